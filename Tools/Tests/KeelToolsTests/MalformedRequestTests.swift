import Foundation
import KeelServing
import KeelStorage
import KeelTestKit
import Testing

/// Sends requests that are broken somewhere to a server, over real connections.
///
/// `KEEL_MALFORMED_SEED` repeats a run. With `KEEL_THOROUGH`, as in the nightly run, there are five times as many.
@Suite("Malformed requests", .timeLimit(.minutes(20)))
struct MalformedRequestTests {
    private static let count =
        (ProcessInfo.processInfo.environment["KEEL_THOROUGH"] ?? "").isEmpty ? 2_000 : 10_000
    private static let lanes = 8

    private static let root = "/v1/projects/p/databases/d/documents"

    private static func post(_ path: String, _ body: String, _ fields: String = "") -> String {
        "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\(fields)"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static let requests = [
        "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET \(root)/a?pageSize=3 HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n",
        "GET /sync/all/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n",
        "DELETE \(root)/a/1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
        post("\(root):commit", #"{"writes":[{"delete":"projects/p/databases/d/documents/a/1"}]}"#),
        post("\(root):runQuery", #"{"structuredQuery":{"from":[{"collectionId":"a"}]}}"#),
        post("/v1/logs", #"{"resourceLogs":[{"scopeLogs":[{"logRecords":[{}]}]}]}"#),
        post("\(root)/a", #"{"fields":{"n":{"integerValue":"1"}}}"#, "Expect: 100-continue\r\n"),
        "POST \(root):batchGet HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n10\r\n{\"documents\":[]}\r\n0\r\n\r\n",
    ]

    private static func broken(_ random: inout SeededRandom) -> [UInt8] {
        var bytes = Array((requests.randomElement(using: &random) ?? "").utf8)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let place = Int.random(in: 0..<max(1, bytes.count), using: &random)
            let length = Int.random(in: 1...40, using: &random)
            let end = min(bytes.count, place + length)
            switch Int.random(in: 0..<8, using: &random) {
            case 0 where !bytes.isEmpty: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.removeSubrange(place..<end)
            case 2: bytes.removeSubrange(place...)
            case 3: bytes.insert(contentsOf: bytes[place..<end], at: place)
            case 4:
                let noise = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
                bytes.insert(contentsOf: noise, at: place)
            case 5: bytes.insert(contentsOf: "\r\n".utf8, at: place)
            case 6: bytes.insert(contentsOf: "99999999999999999999".utf8, at: place)
            default: bytes.insert(contentsOf: [UInt8](repeating: 0x7B, count: length), at: place)
            }
        }
        return bytes
    }

    @Test("They are refused or answered, and the server keeps running")
    func malformed() async throws {
        let given = ProcessInfo.processInfo.environment["KEEL_MALFORMED_SEED"]
        let seed = given.flatMap { UInt64($0) } ?? UInt64.random(in: 1...9_999_999)
        var configuration = StorageServer.Configuration()
        configuration.ingest = Ingest()
        let server = StorageServer(adapter: InMemoryStorageAdapter(), configuration: configuration)
        try await RunningServer.with(server) { port in
            let counts = try await withThrowingTaskGroup(of: [String: Int].self) { group in
                for lane in 0..<Self.lanes {
                    group.addTask {
                        var random = SeededRandom(seed: seed &+ UInt64(lane) &* 1_000_003)
                        return try await Self.send(to: port, &random)
                    }
                }
                var counts: [String: Int] = [:]
                for try await lane in group { counts.merge(lane, uniquingKeysWith: +) }
                return counts
            }
            let told = "seed \(seed): \(counts.sorted { $0.key < $1.key })"
            print("Malformed requests, \(told)")
            let unexpected = counts.keys.filter { status in
                ![
                    "none", "100", "200", "204", "400", "403", "404", "405", "411", "413", "415",
                    "431", "499",
                ].contains(status)
            }
            #expect(unexpected.isEmpty, "\(told)")
            #expect((counts["400"] ?? 0) > Self.count / 10, "\(told)")
            try await RawClient.connected(to: port) { client in
                try await client.send(Self.requests[0])
                #expect(try await client.read(until: "ok\"}"))
            }
        }
    }

    /// Sends a lane's requests, and counts the first status of each response.
    private static func send(
        to port: Int,
        _ random: inout SeededRandom
    ) async throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for _ in 0..<(count / lanes) {
            let bytes = broken(&random)
            let answer = try await RawClient.connected(to: port) { client in
                // The server may refuse a request before it is complete.
                try? await client.send(bytes)
                client.finish()
                return await client.readToEnd()
            }
            let status =
                answer.hasPrefix("HTTP/1.") ? String(answer.dropFirst(9).prefix(3)) : "none"
            counts[answer.isEmpty || status != "none" ? status : "garbage", default: 0] += 1
        }
        return counts
    }
}
