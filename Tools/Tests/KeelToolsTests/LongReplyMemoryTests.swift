#if os(Linux)
import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import KeelToolsTestSupport
import Testing

@Suite("Server memory for long replies", .timeLimit(.minutes(20)))
struct LongReplyMemoryTests {
    private static let count = 50_000
    private static let largeCount = 200
    /// The allowed growth of the server's memory: less than one of the replies of 100 MB, but more than its 16 MiB of
    /// pages, the socket's buffers and the allocator's arenas, 58 MiB in all on a busy machine.
    private static let mostGrowth = 72 << 20

    private static func fill(_ file: String) async throws {
        let store = try SQLiteStorageAdapter(at: .file(file))
        let text = DocumentValue.string(String(repeating: "x", count: 380))
        for start in stride(from: 0, to: count, by: 1_000) {
            let writes = (start..<start + 1_000).map { number in
                DocumentWrite(
                    DocumentPath(CollectionPath("a"), "\(100_000 + number)"),
                    .set(DocumentBody(["n": .integer(Int64(number)), "text": text]))
                )
            }
            for part in stride(from: 0, to: writes.count, by: 500) {
                let batch = WriteBatch(Array(writes[part..<part + 500]))
                for result in try await store.commit([batch]) { _ = try result.get() }
            }
        }
        let large = DocumentValue.string(String(repeating: "x", count: 500_000))
        for number in 0..<largeCount {
            // A small document is first, so that the size of a page cannot be estimated from it.
            for (id, text) in [("0-\(100 + number)", text), ("1-\(100 + number)", large)] {
                let path = DocumentPath(CollectionPath("b"), id)
                let batch = WriteBatch([
                    DocumentWrite(
                        path,
                        .set(DocumentBody(["n": .integer(Int64(1_000 - number)), "text": text]))
                    )
                ])
                for result in try await store.commit([batch]) { _ = try result.get() }
            }
        }
        try store.close()
    }

    /// Sends a request, and returns the number of bytes of the response.
    private static func ask(
        _ transport: AsyncHTTPClientTransport,
        _ port: Int,
        _ method: HTTPRequest.Method,
        _ place: String,
        _ body: String?
    ) async throws -> Int {
        let head = HTTPRequest(
            method: method,
            scheme: "http",
            authority: "127.0.0.1:\(port)",
            path: place.hasPrefix("/sync") ? place : "/v1/projects/p/databases/d/documents\(place)",
            headerFields: [.contentType: "application/json"]
        )
        let reply = try await transport.send(
            HTTPCall(head, body: body.map { HTTPBody(Array($0.utf8)) })
        )
        #expect(reply.head.status == .ok)
        var bytes = 0
        for try await piece in reply.body { bytes += piece.count }
        return bytes
    }

    @Test("Memory does not grow with the reply")
    func bounded() async throws {
        let scratch = try Scratch()
        let file = scratch.file("store.sqlite").path
        try await Self.fill(file)
        let server = try ServedProcess(file, port: 0)
        defer { server.kill() }
        let transport = AsyncHTTPClientTransport()
        // The first request of all needs memory that does not belong to the reply.
        let one = #"{"structuredQuery":{"from":[{"collectionId":"a"}],"limit":1}}"#
        _ = try await Self.ask(transport, server.port, .post, ":runQuery", one)
        let before = try #require(server.peakMemory)
        let names = (0..<Self.count).map {
            "\"projects/p/databases/d/documents/a/\(100_000 + $0)\""
        }
        let largeNames = (0..<Self.largeCount).map {
            "\"projects/p/databases/d/documents/b/1-\(100 + $0)\""
        }
        let group = #""from":[{"collectionId":"a","allDescendants":true}]"#
        let sum = #"{"sum":{"field":{"fieldPath":"n"}},"alias":"n"}"#
        let from = #""structuredQuery":{"from":[{"collectionId":"b"}]"#
        let small = Self.count * 400
        let large = Self.largeCount * 500_000
        let requests: [(HTTPRequest.Method, String, String?, leastBytes: Int)] = [
            (.post, ":runQuery", #"{"structuredQuery":{"from":[{"collectionId":"a"}]}}"#, small),
            (.post, ":runQuery", "{\(from)}}", large),
            (
                .post, ":runQuery",
                "{\(from),\"orderBy\":[{\"field\":{\"fieldPath\":\"n\"}}]}}", large
            ),
            (.get, "/a?pageSize=1000", nil, 1_000 * 400),
            (.get, "/b?pageSize=1000", nil, large),
            (.post, ":batchGet", #"{"documents":[\#(largeNames.joined(separator: ","))]}"#, large),
            (.get, "/sync/all/changes?limit=1000", nil, 1_000),
            (.get, "/sync/all/changes?limit=1000&collection=b", nil, 1_000),
            (
                .post, ":partitionQuery", #"{"structuredQuery":{\#(group)},"partitionCount":10}"#,
                100
            ),
            (
                .post, ":runAggregationQuery",
                #"{"structuredAggregationQuery":{"structuredQuery":{\#(group)},"aggregations":[\#(sum)]}}"#,
                100
            ),
            (.post, ":batchGet", #"{"documents":[\#(names.joined(separator: ","))]}"#, small),
        ]
        for (method, place, body, leastBytes) in requests {
            let start = ContinuousClock.now
            let bytes = try await Self.ask(transport, server.port, method, place, body)
            let peak = try #require(server.peakMemory)
            print(
                "\(place): \(bytes) bytes in \(start.duration(to: .now)), "
                    + "\((peak - before) >> 10) KiB more memory"
            )
            #expect(bytes > leastBytes)
            // The request itself, tens of bytes per name, is in memory too.
            guard body?.utf8.count ?? 0 < 1 << 20 else { continue }
            #expect(peak - before < Self.mostGrowth)
        }
        await transport.shutdown()
    }
}
#endif
