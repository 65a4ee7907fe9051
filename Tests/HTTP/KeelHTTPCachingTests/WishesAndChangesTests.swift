import Foundation
import HTTPTypes
import KeelCache
import KeelHTTP
import KeelHTTPCaching
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Policies, changes and unreachable origins", .timeLimit(.minutes(1)))
struct WishesAndChangesTests {
    private typealias Answer = ScriptedHTTPTransport.Answer

    // MARK: Without the origin

    @Test(
        "If the app allows it, a stored response replaces an unreachable origin and says so",
        arguments: [TransportError.Code.offline, .connectionLost, .hostNotFound, .circuitOpen]
    )
    func standsInOffline(_ code: TransportError.Code) async throws {
        let bench = CacheBench([CacheBench.text("old")], then: .failure(TransportError(code))) {
            $0.offlineStaleness = .seconds(86_400)
        }
        try await bench.send()
        await bench.pass(3600)
        let outcome = try await bench.send()
        #expect(outcome.text == "old")
        #expect(outcome.result == .stale(.offline))
        #expect(outcome.fields[.age] == "3600")
        let status = HTTPField.Name("Cache-Status").map { outcome.fields[$0] }
        #expect(status == "keel; fwd=stale; ttl=-3540; detail=unreachable")
    }

    @Test(
        "Failures other than an unreachable origin are not replaced",
        arguments: [
            TransportError.Code.tlsUntrusted, .tlsPinMismatch, .cancelled, .redirectInvalid,
        ]
    )
    func doesNotHide(_ code: TransportError.Code) async throws {
        let bench = CacheBench([CacheBench.text("old")], then: .failure(TransportError(code))) {
            $0.offlineStaleness = .seconds(86_400)
        }
        try await bench.send()
        await bench.pass(61)
        await expectError(TransportError.self, code) { try await bench.send() }
    }

    @Test(
        "No stored response is used if the origin or the caller forbids it",
        arguments: [
            ("max-age=60, must-revalidate", HTTPCachePolicy.staleWhenOffline, "x"),
            ("max-age=60, no-cache", .staleWhenOffline, "x"),
            ("max-age=60", .failWhenOffline, "x"), ("max-age=60", .reload, "x"),
            ("max-age=60", .standard, "no-cache"), ("max-age=60", .standard, "max-age=5"),
        ]
    )
    func obeysProhibitions(
        _ cacheControl: String,
        _ policy: HTTPCachePolicy,
        _ request: String
    ) async throws {
        let bench = CacheBench([CacheBench.text("old", cacheControl, [.eTag: "\"1\""])])
        try await bench.send()
        await bench.pass(61)
        await #expect(throws: TransportError.self) {
            try await bench.send(.get, "/menu", [.cacheControl: request], policy: policy)
        }
    }

    @Test("By default, no stale response replaces an unreachable origin")
    func isPrudent() async throws {
        let bench = CacheBench([CacheBench.text("old"), CacheBench.text("undated", nil)])
        try await bench.send()
        try await bench.send(.get, "/undated")
        await bench.pass(61)
        for path in ["/menu", "/undated"] {
            await #expect(throws: TransportError.self) { try await bench.send(.get, path) }
            let outcome = try await bench.send(.get, path, policy: .staleWhenOffline)
            #expect(outcome.result == .stale(.offline))
        }
    }

    @Test("The staleness for an unreachable origin is limited, unless the call overrides it")
    func limitsOffline() async throws {
        let bench = CacheBench([CacheBench.text("old")]) { $0.offlineStaleness = .seconds(100) }
        try await bench.send()
        await bench.pass(161)
        await #expect(throws: TransportError.self) { try await bench.send() }
        #expect(try await bench.send(policy: .staleWhenOffline).text == "old")
    }

    @Test("Within stale-if-error, a stored response replaces a server error")
    func standsInForErrors() async throws {
        let bench = CacheBench(
            [CacheBench.text("old", "max-age=60, stale-if-error=60")],
            then: .status(.serviceUnavailable)
        )
        try await bench.send()
        await bench.pass(120)
        #expect(try await bench.send().result == .stale(.serverError))
        await bench.pass(1)
        #expect(try await bench.send().status == 503)
    }

    @Test("errorStaleness applies to responses without their own stale-if-error")
    func errorStaleness() async throws {
        for (control, status) in [
            ("max-age=60", 200), ("max-age=60, must-revalidate", 503),
            ("max-age=60, stale-if-error=10", 503), ("no-cache", 503),
        ] {
            let bench = CacheBench(
                [CacheBench.text("old", control)],
                then: .status(.serviceUnavailable)
            ) { $0.errorStaleness = .seconds(60) }
            try await bench.send()
            await bench.pass(120)
            #expect(try await bench.send().status == status, "\(control)")
        }
        let bench = CacheBench([CacheBench.text("old", "max-age=60")]) {
            $0.errorStaleness = .seconds(60)
        }
        try await bench.send()
        await bench.pass(120)
        #expect(try await bench.send().result == .stale(.offline))
        await #expect(throws: TransportError.self) {
            try await bench.send(policy: .failWhenOffline)
        }
        await bench.pass(1)
        await #expect(throws: TransportError.self) { try await bench.send() }
    }

    @Test("A policy that fails without the origin serves nothing within stale-if-error")
    func failsWithinStaleIfError() async throws {
        let bench = CacheBench([
            CacheBench.text("old", "max-age=60, stale-if-error=600"), .status(.serviceUnavailable),
        ])
        try await bench.send()
        await bench.pass(61)
        #expect(try await bench.send(policy: .failWhenOffline).status == 503)
        await expectError(TransportError.self, .offline) {
            try await bench.send(policy: .failWhenOffline)
        }
        #expect(try await bench.send().result == .stale(.offline))
    }

    // MARK: Cache policies and directives

    @Test("A cache-only call never contacts the origin")
    func keepsToStored() async throws {
        let bench = CacheBench([CacheBench.text("old")])
        let missing = try await bench.send(policy: .cacheOnly)
        #expect(missing.status == 504)
        #expect(missing.result == .missing)
        #expect(
            try await bench.send(.get, "/menu", [.cacheControl: "only-if-cached"]).status == 504
        )
        #expect(bench.requestCount == 0)
        try await bench.send()
        await bench.pass(61)
        let stale = try await bench.send(policy: .cacheOnly)
        #expect(stale.result == .stale(.requested))
        #expect(
            try await bench.send(.get, "/menu", [.cacheControl: "only-if-cached"]).status == 504
        )
        #expect(bench.requestCount == 1)
    }

    @Test("Each policy reads and stores as documented")
    func obeysPolicies() async throws {
        let bench = CacheBench([
            CacheBench.text("1", "max-age=60"), CacheBench.text("2", "max-age=60"),
            CacheBench.text("3", "max-age=60"), CacheBench.text("4", "max-age=60"),
        ])
        #expect(try await bench.send().text == "1")
        #expect(try await bench.send(policy: .reload).text == "2")
        #expect(try await bench.send().text == "2")
        #expect(try await bench.send(policy: .bypass).text == "3")
        #expect(try await bench.send().text == "2")
        #expect(try await bench.send(policy: .revalidate).text == "4")
        await bench.pass(100)
        #expect(try await bench.send(policy: .cacheElseNetwork).text == "4")
    }

    @Test("The responses of a transfer are neither stored nor taken from the cache")
    func passesTransfers() async throws {
        let bench = CacheBench([
            CacheBench.text("damaged"), CacheBench.text("right"), CacheBench.text("stored"),
        ])
        var configuration = try NetworkClient.Configuration("https://api.example.com")
        configuration.cacheResponses(in: bench.cache)
        let client = NetworkClient(configuration, transport: bench.origin)
        let address = try #require(URL(string: "https://api.example.com/menu"))
        for text in ["damaged", "right"] {
            let reply = try await client.transfer(try client.head(.get, address))
            #expect(try await reply.body.collect(upTo: .max) == Array(text.utf8))
        }
        #expect(try await bench.send().text == "stored")
    }

    @Test("The policy revalidate skips a fresh immutable response")
    func trustsImmutable() async throws {
        let bench = CacheBench([CacheBench.text("1", "max-age=60, immutable")])
        try await bench.send()
        #expect(try await bench.send(policy: .revalidate).result == .fresh)
    }

    // MARK: Changes

    @Test("A change invalidates its URL and the named URLs of the same origin")
    func invalidates() async throws {
        let pages = ["/menu", "/today", "/other"].map { CacheBench.text($0) }
        let changed = Answer.status(
            .created,
            headers: [.location: "/today", .contentLocation: "https://other.example.com/other"]
        )
        let other = CacheBench.text("other origin")
        let bench = CacheBench(
            pages + [other, changed] + [CacheBench.text("new"), CacheBench.text("new")]
        )
        for path in ["/menu", "/today", "/other"] { try await bench.send(.get, path) }
        try await bench.send(.get, "/other", host: "other.example.com")
        try await bench.send(.post, "/menu")
        #expect(try await bench.send(.get, "/menu").text == "new")
        #expect(try await bench.send(.get, "/today").text == "new")
        #expect(try await bench.send(.get, "/other").text == "/other")
        let kept = try await bench.send(.get, "/other", host: "other.example.com")
        #expect(kept.text == "other origin")
    }

    @Test("A change can invalidate a group of responses, but only of its own origin")
    func invalidatesGroups() async throws {
        let groups = try #require(HTTPField.Name("Cache-Groups"))
        let invalidation = try #require(HTTPField.Name("Cache-Group-Invalidation"))
        let bench = CacheBench([
            CacheBench.text("a", "max-age=60", [groups: "\"menus\", \"all\""]),
            CacheBench.text("b", "max-age=60", [groups: "\"all\""]),
            CacheBench.text("foreign", "max-age=60", [groups: "\"menus\""]),
            .status(.noContent, headers: [invalidation: "\"menus\""]),
            CacheBench.text("new"),
        ])
        try await bench.send(.get, "/a")
        try await bench.send(.get, "/b")
        try await bench.send(.get, "/a", host: "other.example.com")
        try await bench.send(.post, "/orders")
        #expect(try await bench.send(.get, "/a").text == "new")
        #expect(try await bench.send(.get, "/b").text == "b")
        #expect(try await bench.send(.get, "/a", host: "other.example.com").text == "foreign")
    }

    @Test("A change with an unknown outcome invalidates its URL")
    func invalidatesUnknown() async throws {
        let lost = TransportError(.connectionLost, processed: .maybe)
        let unsent = TransportError(.offline, processed: .no)
        for (error, text) in [(lost, "new"), (unsent, "old")] {
            for policy in [HTTPCachePolicy.standard, .bypass] {
                let bench = CacheBench([
                    CacheBench.text("old"), .failure(error), CacheBench.text("new"),
                ])
                try await bench.send()
                await #expect(throws: TransportError.self) {
                    try await bench.send(.put, policy: policy)
                }
                #expect(try await bench.send().text == text)
            }
        }
        let bench = CacheBench([CacheBench.text("old"), .failure(lost)])
        try await bench.send()
        await #expect(throws: TransportError.self) { try await bench.send(policy: .reload) }
        #expect(try await bench.send().result == .fresh)
    }

    @Test("A response can be removed by its URL")
    func removesURL() async throws {
        let bench = CacheBench([CacheBench.text("old"), CacheBench.text("new")])
        try await bench.send(.get, "/menu?day=1")
        await bench.cache.remove(
            try #require(URL(string: "HTTPS://API.example.com:443/menu?day=1#top"))
        )
        #expect(try await bench.send(.get, "/menu?day=1").text == "new")
    }

    @Test("A shared cache does not store private responses")
    func keepsPrivateOut() async throws {
        let bench = CacheBench([
            CacheBench.text("1", "private, max-age=60"), CacheBench.text("2", "max-age=60"),
            CacheBench.text("3", "public, max-age=60"),
        ]) { $0.audience = .sharedCache }
        try await bench.send()
        try await bench.send(.get, "/menu", [.authorization: "Bearer a"])
        #expect(try await bench.send(.get, "/menu", [.authorization: "Bearer a"]).text == "3")
        #expect(try await bench.send().text == "3")
    }

    @Test("A shared cache does not pass one user's cookie to others")
    func keepsCookiesBack() async throws {
        let fields: HTTPFields = [.setCookie: "id=ann", .eTag: "\"1\""]
        let answers = [
            CacheBench.text("1", "max-age=60", fields),
            .status(.notModified, headers: [.eTag: "\"1\"", .setCookie: "id=bob"]),
        ]
        let bench = CacheBench(answers) { $0.audience = .sharedCache }
        #expect(try await bench.send().fields[.setCookie] == "id=ann")
        let second = try await bench.send()
        #expect(second.result == .fresh)
        #expect(second.fields[.setCookie] == nil)
        await bench.pass(61)
        let third = try await bench.send()
        #expect(third.result == .revalidated)
        #expect(third.fields[.setCookie] == "id=bob")
        #expect(try await bench.send().fields[.setCookie] == nil)
        let own = CacheBench(answers)
        try await own.send()
        #expect(try await own.send().fields[.setCookie] == "id=ann")
    }

    @Test("The observer of a download sees the bytes from the cache")
    func showsProgress() async throws {
        let bench = CacheBench([CacheBench.text("soup")])
        var configuration = try NetworkClient.Configuration("https://api.example.com")
        configuration.hopMiddleware = [HTTPCachingMiddleware(bench.cache)]
        let client = NetworkClient(configuration, transport: bench.origin)
        for _ in 0..<2 {
            let seen = Mutex<Int64>(0)
            let file = FileManager.default.temporaryDirectory
                .appendingPathComponent("keel-\(UInt64.random(in: .min ... .max))")
            defer { try? FileManager.default.removeItem(at: file) }
            let observer = TransferObserver.progress { progress in
                seen.withLock { $0 = progress.completedBytes }
            }
            try await client.download(from: GetMenu(), to: file, observer: observer)
            #expect(try Data(contentsOf: file) == Data("soup".utf8))
            #expect(seen.withLock { $0 } == 4)
        }
        #expect(bench.requestCount == 1)
    }

    @Test("The statistics and Cache-Status report what happened")
    func tells() async throws {
        let status = try #require(HTTPField.Name("Cache-Status"))
        let bench = CacheBench([
            CacheBench.text("1", "max-age=60", [status: "origin; hit"]), .status(.noContent),
        ])
        #expect(try await bench.send().fields[status] == "origin; hit, keel; fwd=uri-miss; stored")
        await bench.pass(10)
        #expect(try await bench.send().fields[status] == "origin; hit, keel; hit; ttl=50")
        #expect(try await bench.send(.post).fields[status] == "keel; fwd=method")
        let statistics = bench.cache.statistics
        #expect(statistics.freshHits == 1)
        #expect(statistics.misses == 1)
        #expect(statistics.hitRatio == 0.5)
        #expect(statistics.invalidations == 1)
    }
}
