import Foundation
import HTTPTypes
import KeelCache
import KeelHTTP
import KeelHTTPCaching
import KeelTestKit
import Testing

@Suite("The stored response first, then the fresh one", .timeLimit(.minutes(1)))
struct CachedThenFreshTests {
    private let soup = CacheBench.text("[\"soup\"]", "max-age=60", [.eTag: "\"1\""])
    private let stew = CacheBench.text("[\"stew\"]", "max-age=60", [.eTag: "\"2\""])

    private func client(_ bench: CacheBench) throws -> NetworkClient {
        var configuration = try NetworkClient.Configuration("https://api.example.com")
        configuration.retry = .never
        configuration.hopMiddleware = [HTTPCachingMiddleware(bench.cache)]
        return NetworkClient(configuration, transport: bench.origin)
    }

    private struct Answer: Equatable {
        var value: [String]
        var source: HTTPCacheResult?
    }

    private func answers(
        _ client: NetworkClient,
        _ refresh: CachedThenFresh<[String]>.Refresh = .whenStale
    ) async throws -> [Answer] {
        var answers: [Answer] = []
        for try await answer in client.cachedThenFresh(GetMenu(), refresh: refresh) {
            answers.append(Answer(value: answer.value, source: answer.source))
        }
        return answers
    }

    @Test("Without a stored response, only the origin's response is returned")
    func asksOrigin() async throws {
        let bench = CacheBench([soup])
        let answers = try await answers(client(bench))
        #expect(answers == [Answer(value: ["soup"], source: .network)])
        #expect(bench.requestCount == 1)
    }

    @Test("A fresh stored response is returned alone, unless a refresh is requested")
    func staysFresh() async throws {
        let bench = CacheBench([soup, stew])
        let client = try client(bench)
        _ = try await answers(client)
        #expect(try await answers(client) == [Answer(value: ["soup"], source: .fresh)])
        let both = try await answers(client, .always)
        #expect(both.map(\.value) == [["soup"], ["stew"]])
        #expect(both.map(\.source) == [.fresh, .network])
    }

    private enum Kitchen: ServiceEndpoint {
        case menu

        var path: EndpointPath { "/menu" }
    }

    @Test("Operations of a service also return stored responses")
    func service() async throws {
        let bench = CacheBench([soup, stew])
        let kitchen = ServiceClient<Kitchen>(try client(bench))
        var values: [[String]] = []
        for refresh in [CachedThenFresh<[String]>.Refresh.whenStale, .always] {
            let answers = kitchen.cachedThenFresh(.menu, as: [String].self, refresh: refresh)
            for try await answer in answers { values.append(answer.value) }
        }
        #expect(values == [["soup"], ["soup"], ["stew"]])
    }

    @Test("A stale stored response is followed by the origin's response")
    func refreshes() async throws {
        let unchanged = ScriptedHTTPTransport.Answer.status(
            .notModified,
            headers: [.eTag: "\"1\"", .cacheControl: "max-age=60"]
        )
        let bench = CacheBench([soup, unchanged, stew])
        let client = try client(bench)
        _ = try await answers(client)
        await bench.pass(61)
        let same = try await answers(client)
        #expect(same.map(\.source) == [.stale(.requested), .revalidated])
        #expect(same.map(\.value) == [["soup"], ["soup"]])
        await bench.pass(61)
        #expect(try await answers(client).map(\.value) == [["soup"], ["stew"]])
    }

    @Test(
        "A failure of the origin is thrown after the stored response",
        arguments: ["max-age=60", "max-age=60, stale-if-error=600"]
    )
    func throwsAfterwards(_ cacheControl: String) async throws {
        let bench = CacheBench([CacheBench.text("[\"soup\"]", cacheControl, [.eTag: "\"1\""])])
        let client = try client(bench)
        _ = try await answers(client)
        await bench.pass(61)
        var values: [[String]] = []
        await #expect(throws: NetworkError.self) {
            for try await answer in client.cachedThenFresh(GetMenu()) {
                values.append(answer.value)
            }
        }
        #expect(values == [["soup"]])
    }

    @Test("A stored response that cannot be decoded is skipped, even if it is fresh")
    func passesUndecodableOver() async throws {
        let bench = CacheBench([CacheBench.text("{}"), soup])
        let client = try client(bench)
        await #expect(throws: NetworkError.self) { try await answers(client) }
        #expect(try await answers(client) == [Answer(value: ["soup"], source: .network)])
        #expect(bench.requestCount == 2)
    }

    @Test("Without a cache, the origin is asked once")
    func noCache() async throws {
        let bench = CacheBench([soup])
        var configuration = try NetworkClient.Configuration("https://api.example.com")
        configuration.retry = .never
        let client = NetworkClient(configuration, transport: bench.origin)
        #expect(try await answers(client) == [Answer(value: ["soup"], source: nil)])
        #expect(bench.requestCount == 1)
    }

    @Test("A stored error response is skipped in favor of the origin's response")
    func passesRefusalOver() async throws {
        let gone = ScriptedHTTPTransport.Answer.status(.gone, headers: [.cacheControl: "max-age=1"])
        let bench = CacheBench([gone, soup])
        let client = try client(bench)
        await #expect(throws: NetworkError.self) { try await answers(client) }
        await bench.pass(2)
        #expect(try await answers(client) == [Answer(value: ["soup"], source: .network)])
    }
}
