#if AsyncHTTPClient && TestServer
import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import KeelHTTPCompression
import KeelTestKit
import KeelTestServer
import KeelTestSupport
import Synchronization
import Testing

@Suite("Compressed responses over AsyncHTTPClient", .timeLimit(.minutes(2)))
struct CompressionTests {
    private struct GetItems: Endpoint {
        typealias Response = [Item]
        var method: HTTPRequest.Method = .get
        var headers: HTTPFields = [:]
        var path: EndpointPath { "/items" }
    }

    private static let items = (0..<2000).map { Item(name: "Restaurant number \($0)") }

    /// Returns the bytes compressed by `RequestCompression`.
    private static func gzip(_ bytes: [UInt8]) async throws -> [UInt8] {
        let transport = ScriptedHTTPTransport([.status(.ok)])
        let head = HTTPRequest(method: .post, scheme: "http", authority: "a", path: "/")
        _ = try await transport.chain([RequestCompression()])(HTTPCall(head, body: HTTPBody(bytes)))
        return transport.calls[0].body
    }

    /// Runs a server that compresses on request, and a client.
    private func run<Value: Sendable>(
        _ plain: [UInt8]? = nil,
        overTLS isSecure: Bool = false,
        settings change: (inout AsyncHTTPClientTransport.Configuration) -> Void = { _ in },
        interrupted: HTTPTestAnswer.Interruption? = nil,
        _ work: @Sendable (NetworkClient, FaultServer) async throws -> Value
    ) async throws -> Value {
        let plain = try plain ?? Array(JSONEncoder().encode(Self.items))
        let coded = try await Self.gzip(plain)
        let authority = try TestAuthority()
        var settings = AsyncHTTPClientTransport.Configuration()
        settings.security.trustRoots = try .pem(try authority.certificatePEM.utf8)
        change(&settings)
        let handler: FaultServer.Handler = { request in
            let isCoded = request["accept-encoding"]?.contains("gzip") == true
            var fields: HTTPFields = [.contentType: "application/json", .vary: "Accept-Encoding"]
            if isCoded { fields[.contentEncoding] = "gzip" }
            var answer = HTTPTestAnswer(headers: fields, body: [isCoded ? coded : plain])
            answer.interruption = interrupted
            return answer
        }
        return try await FaultServer.run(
            isSecure ? .init(tls: .init(try authority.identity())) : .init(),
            answering: handler
        ) { [settings] server in
            try await withClient(
                "\(server.scheme)://\(server.authority)",
                transport: settings
            ) { client in
                try await work(client, server)
            }
        }
    }

    @Test(
        "By default, a client requests and decodes compressed responses",
        arguments: [false, true]
    )
    func byDefault(isSecure: Bool) async throws {
        try await run(overTLS: isSecure) { client, server in
            #expect(try await client.request(GetItems()) == Self.items)
            let response = try await client.response(to: GetItems()).get()
            #expect(response.head.headerFields[.contentEncoding] == nil)
            #expect(try response.decode(as: [Item].self) == Self.items)
            let asked = server.requests.map { $0["accept-encoding"] }
            #expect(asked == ["gzip, deflate", "gzip, deflate"])
            // The purpose of the middleware.
            #expect(try await Self.gzip(response.body).count * 5 < response.body.count)
        }
    }

    @Test("Without decompression or without a client, bodies arrive as sent")
    func switchedOff() async throws {
        let isOff = { @Sendable (settings: inout AsyncHTTPClientTransport.Configuration) in
            settings.decompression = nil
        }
        try await run(settings: isOff) { client, server in
            let items = try await client.request(GetItems())
            #expect(items == Self.items)
            #expect(server.requests.map { $0["accept-encoding"] } == [nil])
        }
        try await run { client, server in
            let head = HTTPRequest("\(server.scheme)://\(server.authority)/items")
            var coded = head
            coded.headerFields[.acceptEncoding] = "gzip"
            let plain = try await client.transport.send(HTTPCall(head))
            #expect(try await plain.body.collect(upTo: 1 << 20).first == UInt8(ascii: "["))
            let raw = try await client.transport.send(HTTPCall(coded))
            #expect(raw.head.headerFields[.contentEncoding] == "gzip")
            #expect(try await raw.body.collect(upTo: 1 << 20).prefix(2) == [0x1f, 0x8b])
        }
    }

    @Test("Calls with their own coding, a range, HEAD or an observer get the bytes as sent")
    func asTheyAre() async throws {
        try await run { client, server in
            let size = try await client.download(from: GetItems()).count
            let own = GetItems(headers: [.acceptEncoding: "gzip"])
            let raw = try await client.response(to: own).get()
            #expect(raw.head.headerFields[.contentEncoding] == "gzip")
            #expect(raw.body.starts(with: [0x1f, 0x8b]))
            let part = GetItems(headers: [.range: "bytes=0-1"])
            #expect(
                try await client.response(to: part).get().head.headerFields[.contentEncoding] == nil
            )
            let length = try await client.response(to: GetItems(method: .head)).get()
            #expect(length.head.headerFields[.contentLength] == String(size))
            let totals = Mutex<Set<Int64?>>([])
            let observer = TransferObserver.progress { progress in
                totals.withLock { _ = $0.insert(progress.totalBytes) }
            }
            #expect(try await client.download(from: GetItems(), observer: observer).count == size)
            #expect(totals.withLock { $0 } == [Int64(size)])
            let accepted = server.requests.map { $0["accept-encoding"] }
            #expect(accepted == ["gzip, deflate", "gzip", nil, nil, nil])
        }
    }

    @Test("A file receives the decoded bytes, or nothing if they are truncated")
    func files() async throws {
        let folder = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("items")
        try await run { client, _ in _ = try await client.download(from: GetItems(), to: file) }
        #expect(try JSONDecoder().decode([Item].self, from: Data(contentsOf: file)) == Self.items)
        let cut = HTTPTestAnswer.Interruption(.insideBody(after: 500), .close)
        try await run(interrupted: cut) { client, _ in
            _ = await #expect(throws: NetworkError.self) {
                try await client.download(
                    from: GetItems(),
                    to: folder.appendingPathComponent("other")
                )
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["items"])
    }

    @Test("A decompression bomb is rejected; a repetitive body of usual size is not")
    func bombs() async throws {
        let code = try await run([UInt8](repeating: 0x20, count: 40 << 20)) { client, _ in
            do throws(NetworkError) {
                _ = try await client.download(from: GetItems())
                return TransportError.Code?.none
            } catch { return error.transportError?.code }
        }
        #expect(code == .decompressionLimit)
        let count = try await run([UInt8](repeating: 0x20, count: 8 << 20)) { client, _ in
            try await client.download(from: GetItems()).count
        }
        #expect(count == 8 << 20)
    }
}
#endif
