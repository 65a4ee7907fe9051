import Foundation
import HTTPTypes
import KeelCache
import KeelHTTP
import KeelHTTPCaching
import KeelHTTPCompression
import KeelTestKit
import Testing

@Suite("Caching above decompression", .timeLimit(.minutes(1)))
struct CachedCompressionTests {
    private static let text = Array("hello".utf8)
    private static let coded: [UInt8] = [
        0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 7, 0, 0x86, 0xa6, 0x10,
        0x36, 5, 0, 0, 0,
    ]

    private struct GetMenu: ServiceEndpoint {
        var method: HTTPRequest.Method = .get
        var headers: HTTPFields = [:]
        var path: EndpointPath { "/menu" }
    }

    /// A server that compresses on request, with a strong tag for each form.
    private static let origin = ScriptedHTTPTransport.Answer { call async throws(TransportError) in
        let asked = call.head.headerFields
        let isCoded = asked[.acceptEncoding]?.contains("gzip") == true
        var fields: HTTPFields = [
            .vary: "Accept-Encoding", .cacheControl: "max-age=60",
            .eTag: isCoded ? "\"coded\"" : "\"plain\"",
        ]
        // Some servers send it with status 304 as well.
        if isCoded { fields[.contentEncoding] = "gzip" }
        guard asked[.ifNoneMatch] != fields[.eTag] else {
            return HTTPReply(head: HTTPResponse(status: .notModified, headerFields: fields))
        }
        let bytes = isCoded ? coded : text
        fields[.contentLength] = String(bytes.count)
        let isHead = call.head.method == .head
        return HTTPReply(
            head: HTTPResponse(status: .ok, headerFields: fields),
            body: .chunks(isHead ? [] : [bytes])
        )
    }

    private struct Bench {
        let clock = TestClock()
        let transport = ScriptedHTTPTransport(then: CachedCompressionTests.origin)
        let client: NetworkClient

        init() throws {
            let url = try #require(URL(string: "https://api.example.com"))
            let time = CacheClock.following(clock)
            var configuration = NetworkClient.Configuration(baseURL: url)
            configuration.retry = .never
            configuration.cacheResponses(
                in: HTTPCache(tier: InMemoryCacheTier(clock: time), clock: time)
            )
            configuration.attemptMiddleware = [ResponseDecompression(for: transport.features)]
            client = NetworkClient(configuration, transport: transport)
        }

        func get(_ endpoint: GetMenu = GetMenu()) async throws -> NetworkResponse {
            let response = try await client.response(to: endpoint).get()
            #expect(response.head.headerFields[.contentEncoding] == nil)
            return response
        }
    }

    @Test("The cache keeps the decoded body and revalidates with the encoded body's tag")
    func revalidates() async throws {
        let bench = try Bench()
        for result in [HTTPCacheResult.network, .fresh] {
            let response = try await bench.get()
            #expect(response.body == Self.text)
            #expect(response.cacheResult == result)
        }
        await bench.clock.advance(by: .seconds(61))
        for result in [HTTPCacheResult.revalidated, .fresh] {
            let response = try await bench.get()
            #expect(response.body == Self.text)
            #expect(response.cacheResult == result)
        }
        let tags = bench.transport.calls.map { $0.head.headerFields[.ifNoneMatch] }
        #expect(tags == [nil, "\"coded\""])
    }

    @Test("Ranges are cut from the decoded body")
    func ranges() async throws {
        let bench = try Bench()
        _ = try await bench.get()
        let part = try await bench.get(GetMenu(headers: [.range: "bytes=1-3"]))
        #expect(part.status == .partialContent)
        #expect(part.body == Array(Self.text[1...3]))
        #expect(part.head.headerFields[.contentRange] == "bytes 1-3/\(Self.text.count)")
        #expect(bench.transport.calls.count == 1)
    }

    @Test("A HEAD response gives the plain length and does not corrupt the stored response")
    func heads() async throws {
        let bench = try Bench()
        let head = try await bench.get(GetMenu(method: .head))
        #expect(head.head.headerFields[.contentLength] == String(Self.text.count))
        _ = try await bench.get()
        await bench.clock.advance(by: .seconds(61))
        _ = try await bench.get(GetMenu(method: .head))
        let response = try await bench.get()
        #expect(response.body == Self.text)
        #expect(response.cacheResult == .revalidated)
    }
}
