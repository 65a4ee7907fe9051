import Foundation
import HTTPTypes
import KeelCache
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelHTTPCaching
import KeelTestKit
import Synchronization
import Testing

@Suite("Responses from the cache", .timeLimit(.minutes(1)))
struct ServingTests {
    private typealias Answer = ScriptedHTTPTransport.Answer

    // MARK: Variants and ranges

    @Test("Variants of one URL are stored side by side, up to the limit")
    func keepsVariants() async throws {
        let vary: HTTPFields = [.vary: "Accept-Language"]
        let bench = CacheBench([
            CacheBench.text("en", "max-age=60", vary), CacheBench.text("de", "max-age=60", vary),
            CacheBench.text("fr", "max-age=60", vary), CacheBench.text("en", "max-age=60", vary),
        ]) { $0.variantLimit = 2 }
        for language in ["en", "de"] {
            try await bench.send(.get, "/menu", [.acceptLanguage: language])
        }
        for language in ["en", "de"] {
            let outcome = try await bench.send(.get, "/menu", [.acceptLanguage: language])
            #expect(outcome.text == language)
            #expect(outcome.result == .fresh)
        }
        await bench.pass(1)
        try await bench.send(.get, "/menu", [.acceptLanguage: "fr"])
        let third = try await bench.send(.get, "/menu", [.acceptLanguage: "en"])
        #expect(third.result == .network)
        #expect(bench.requestCount == 4)
    }

    @Test("Two cookies match the same two in one field, but not one cookie with a comma")
    func comparesCookies() async throws {
        let bench = CacheBench(
            [CacheBench.text("two", "max-age=60", [.vary: "Cookie"])],
            then: CacheBench.text("one")
        )
        try await bench.send(.get, "/menu", [.cookie: "a=1", .cookie: "b=2"])
        let same = try await bench.send(.get, "/menu", [.cookie: "a=1; b=2"])
        #expect(same.result == .fresh)
        #expect(try await bench.send(.get, "/menu", [.cookie: "a=1,b=2"]).text == "one")
    }

    @Test(
        "A range is cut from the stored whole response",
        arguments: [
            ("bytes=0-3", 206, "0123", "bytes 0-3/10"), ("bytes=7-", 206, "789", "bytes 7-9/10"),
            ("bytes=-2", 206, "89", "bytes 8-9/10"), ("bytes=5-99", 206, "56789", "bytes 5-9/10"),
            ("bytes=3-1", 200, "0123456789", nil), ("bytes=0-1,4-5", 200, "0123456789", nil),
            ("lines=0-1", 200, "0123456789", nil), ("bytes=10-", 200, "0123456789", nil),
        ] as [(String, Int, String, String?)]
    )
    func cutsRanges(_ range: String, _ status: Int, _ text: String, _ field: String?) async throws {
        let bench = CacheBench([CacheBench.text("0123456789")])
        try await bench.send()
        let outcome = try await bench.send(.get, "/menu", [.range: range])
        #expect(outcome.status == status)
        #expect(outcome.text == text)
        #expect(outcome.fields[.contentRange] == field)
        #expect(outcome.fields[.contentLength] == String(text.utf8.count))
        #expect(bench.requestCount == 1)
    }

    @Test(
        "If-Range applies the range only if a strong validator matches",
        arguments: [("\"1\"", 206), ("\"2\"", 200), ("W/\"1\"", 200), ("1", 200)]
    )
    func checksIfRange(_ condition: String, _ status: Int) async throws {
        let bench = CacheBench([CacheBench.text("0123456789", "max-age=60", [.eTag: "\"1\""])])
        try await bench.send()
        let fields: HTTPFields = [.range: "bytes=0-1", .ifRange: condition]
        #expect(try await bench.send(.get, "/menu", fields).status == status)
    }

    @Test("A stored part serves ranges within it and is replaced by the whole response")
    func servesParts() async throws {
        let part = Answer.status(
            .partialContent,
            headers: [.cacheControl: "max-age=60", .contentRange: "bytes 4-7/10"],
            body: Array("4567".utf8)
        )
        let bench = CacheBench([part, CacheBench.text("0123456789")])
        try await bench.send(.get, "/menu", [.range: "bytes=4-7"])
        let inside = try await bench.send(.get, "/menu", [.range: "bytes=5-6"])
        #expect(inside.text == "56")
        #expect(inside.fields[.contentRange] == "bytes 5-6/10")
        #expect(try await bench.send().text == "0123456789")
        #expect(try await bench.send(.get, "/menu", [.range: "bytes=0-1"]).text == "01")
        #expect(bench.requestCount == 2)
    }

    // MARK: Users

    @Test("A user's responses are not given to other or unknown users")
    func keepsUsersApart() async throws {
        let bench = CacheBench([
            CacheBench.text("of a"), CacheBench.text("of b"), CacheBench.text("of nobody"),
        ])
        let users: [HTTPFields] = [[.authorization: "Bearer a"], [.authorization: "Bearer b"], [:]]
        for user in users { try await bench.send(.get, "/menu", user) }
        let texts = ["of a", "of b", "of nobody"]
        for (user, text) in zip(users, texts) {
            let outcome = try await bench.send(.get, "/menu", user)
            #expect(outcome.text == text)
            #expect(outcome.result == .fresh)
        }
    }

    @Test("A change by one user invalidates the responses of all users")
    func invalidatesForAll() async throws {
        let bench = CacheBench([
            CacheBench.text("of a"), .status(.noContent), CacheBench.text("new"),
        ])
        try await bench.send(.get, "/menu", [.authorization: "Bearer a"])
        try await bench.send(.put, "/menu", [.authorization: "Bearer b"])
        let outcome = try await bench.send(.get, "/menu", [.authorization: "Bearer a"])
        #expect(outcome.text == "new")
    }

    @Test("Users whose tokens are added below the cache are separated by identity")
    func asksSigner() async throws {
        let bench = CacheBench([
            CacheBench.text("\"of a\""), CacheBench.text("\"of b\""), CacheBench.text("\"c\""),
            CacheBench.text("\"d\""),
        ])
        let url = try #require(URL(string: "https://api.example.com"))
        func text(_ tokens: Tokens) async throws -> (text: String, result: HTTPCacheResult?) {
            var configuration = NetworkClient.Configuration(baseURL: url)
            configuration.hopMiddleware = [HTTPCachingMiddleware(bench.cache)]
            configuration.authorize(with: tokens)
            let client = NetworkClient(configuration, transport: bench.origin)
            let response = try await client.response(to: GetMenu()).get()
            return (String(decoding: response.body, as: UTF8.self), response.cacheResult)
        }
        #expect(try await text(Tokens(value: "1", identity: "a")).text == "\"of a\"")
        #expect(try await text(Tokens(value: "2", identity: "b")).text == "\"of b\"")
        // A renewed token still belongs to the same user.
        let again = try await text(Tokens(value: "3", identity: "a"))
        #expect(again.text == "\"of a\"")
        #expect(again.result == .fresh)
        // If the token's user is unknown, the cache is bypassed.
        #expect(try await text(Tokens(value: "4", identity: nil)).text == "\"c\"")
        #expect(try await text(Tokens(value: "4", identity: nil)).text == "\"d\"")
    }

    @Test("Named cookies separate users")
    func asksCookies() async throws {
        let bench = CacheBench([CacheBench.text("a"), CacheBench.text("b")]) {
            $0.partition = .byCredentials(cookies: ["session"])
        }
        try await bench.send(.get, "/menu", [.cookie: "session=1; theme=dark"])
        let same = try await bench.send(.get, "/menu", [.cookie: "theme=light; session=1"])
        #expect(same.text == "a")
        #expect(try await bench.send(.get, "/menu", [.cookie: "session=2"]).text == "b")
    }

    @Test("A response replaced between lookup and body is served in its current version")
    func servesReplacement() async throws {
        let tier = InterleavedTier()
        let bench = CacheBench(
            ["old", "new", "newer"].map {
                CacheBench.text($0, "max-age=1, stale-while-revalidate=60")
            },
            tier: tier
        )
        try await bench.send()
        tier.beforeNextBody { _ = try? await bench.send(policy: .reload) }
        let fresh = try await bench.send()
        #expect((fresh.text, fresh.result) == ("new", .fresh))
        await bench.pass(2)
        tier.beforeNextBody { _ = try? await bench.send(policy: .reload) }
        #expect(try await bench.send().text == "newer")
        #expect(bench.requestCount == 3)
    }

    @Test("A cache-only call does not contact the origin if the stored body is missing")
    func refusesWithoutBody() async throws {
        let tier = InterleavedTier()
        let bench = CacheBench(
            [CacheBench.text("soup")],
            then: CacheBench.text("bread"),
            tier: tier
        )
        for (fields, policy) in [([:], .cacheOnly), ([.cacheControl: "only-if-cached"], .standard)]
            as [(HTTPFields, HTTPCachePolicy)]
        {
            try await bench.send(policy: .reload)
            let count = bench.requestCount
            tier.beforeNextBody { await tier.removeBodies() }
            #expect(try await bench.send(.get, "/menu", fields, policy: policy).status == 504)
            #expect(bench.requestCount == count)
        }
    }
}

/// A tier that lets another call come between a cache's reading of a list and of a body.
private final class InterleavedTier: CacheTier {
    private let base = InMemoryCacheTier(clock: .following(TestClock()))
    private let bodies = Mutex<Set<[UInt8]>>([])
    private let action = Mutex<(@Sendable () async -> Void)?>(nil)

    func beforeNextBody(_ action: @escaping @Sendable () async -> Void) {
        self.action.withLock { $0 = action }
    }

    func removeBodies() async { try? await base.remove(.keys(Array(bodies.withLock { $0 }))) }

    /// The second byte of a key names the kind of its entry.
    private func isBody(_ key: [UInt8]) -> Bool { key[1] == UInt8(ascii: "b") }

    func read(_ key: [UInt8]) async throws(CacheError) -> CacheRecord? {
        if isBody(key), let action = action.withLock({ $0.take() }) { await action() }
        return try await base.read(key)
    }

    func write(_ records: [CacheRecord]) async throws(CacheError) {
        bodies.withLock { $0.formUnion(records.map(\.key).filter(isBody)) }
        try await base.write(records)
    }

    func remove(_ selection: CacheSelection) async throws(CacheError) {
        try await base.remove(selection)
    }

    func flush() async throws(CacheError) {}
    func makeFile() async throws(CacheError) -> (any CacheFileWriter)? { nil }
    func usage() async throws(CacheError) -> CacheTierUsage { try await base.usage() }
}

private struct Tokens: TokenSource {
    let value: String
    let identity: String?
    func token() async throws -> AccessToken { AccessToken(value) }
    func token(after refused: AccessToken) async throws -> AccessToken { AccessToken(value) }
}
