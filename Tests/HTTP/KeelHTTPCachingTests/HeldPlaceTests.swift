import Foundation
import HTTPTypes
import KeelHTTP
import KeelHTTPCaching
import KeelTestKit
import Testing

/// With a limit of one, a call that waits for a second slot while it holds the first waits forever.
@Suite("Concurrency slots of unusable responses", .timeLimit(.minutes(1)))
struct HeldPlaceTests {
    private static func unchanged(_ tag: String) -> CacheBench.Answer {
        .status(.notModified, headers: [.eTag: tag])
    }

    @Test(
        "A 304 response about another version releases its slot before the call is resent",
        arguments: [false, true]
    )
    func foreignTags(isCollected: Bool) async throws {
        let bench = CacheBench([
            CacheBench.text("[\"old\"]", "max-age=60", [.eTag: "\"1\""]),
            Self.unchanged("\"9\""),
            CacheBench.text("[\"new\"]", "max-age=60", [.eTag: "\"2\""]),
        ])
        var configuration = try NetworkClient.Configuration("https://api.example.com")
        configuration.timeout = .seconds(20)
        configuration.retry = .never
        configuration.cacheResponses(in: bench.cache)
        configuration.attemptMiddleware = [ConcurrencyLimitMiddleware(1)]
        let client = NetworkClient(configuration, transport: bench.origin)
        for text in ["old", "new"] {
            let bytes: [UInt8]
            if isCollected {
                bytes = try await client.response(to: GetMenu()).get().body
            } else {
                // Only the caller reads the body of a stream.
                bytes = try await client.stream(GetMenu()).body.collect(upTo: 100)
            }
            #expect(String(decoding: bytes, as: UTF8.self) == "[\"\(text)\"]")
            await bench.pass(61)
        }
        #expect(bench.requestCount == 3)
    }
}
