import Foundation
import HTTPTypes
import KeelCache
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelHTTPCaching
import KeelHTTPCookies
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Signed-in users of one cache", .timeLimit(.minutes(1)))
struct SignedUserTests {
    /// Renews a token by appending to it: `ann`, `ann+`.
    private struct Renewing: IdentityServer {
        func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
            BearerCredentials(accessToken: credentials.accessToken + "+", refreshToken: "r")
        }
    }

    /// Returns an origin's answer that echoes the token it received.
    private static func echo(_ fields: HTTPFields = [:]) -> CacheBench.Answer {
        CacheBench.Answer { call async throws(TransportError) in
            var head = HTTPResponse(status: .ok, headerFields: fields)
            head.headerFields[.cacheControl] = "max-age=60"
            let token = (call.head.headerFields[.authorization] ?? "Bearer nobody").dropFirst(7)
            return HTTPReply(head: head, body: .chunks([Array("[\"\(token)\"]".utf8)]))
        }
    }

    private func client(
        _ cache: HTTPCache,
        _ origin: ScriptedHTTPTransport,
        _ change: (inout NetworkClient.Configuration) -> Void = { _ in }
    ) throws -> NetworkClient {
        var configuration = try NetworkClient.Configuration("https://api.example.com")
        configuration.retry = .never
        configuration.cacheResponses(in: cache)
        change(&configuration)
        return NetworkClient(configuration, transport: origin)
    }

    private struct Answer: Equatable {
        var text: String
        var result: HTTPCacheResult?
    }

    private func get(
        _ client: NetworkClient,
        _ options: HTTPCallOptions = HTTPCallOptions()
    ) async throws -> Answer {
        let response = try await client.response(to: GetMenu(), options: options).get()
        let text = String(decoding: response.body, as: UTF8.self)
        return Answer(text: text, result: response.cacheResult)
    }

    // MARK: Sessions

    /// An identity server that asks for the menu before it renews.
    private final class MenuReader: IdentityServer {
        // Set late, because the client's layers need the session first.
        let client = Mutex<NetworkClient?>(nil)
        private let authentication: HTTPAuthentication

        init(_ authentication: HTTPAuthentication) { self.authentication = authentication }

        func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
            let client = client.withLock { $0 }
            var options = HTTPCallOptions()
            options.authentication = authentication
            _ = try await client?.response(to: GetMenu(), options: options).get()
            return BearerCredentials(accessToken: "new", refreshToken: "r")
        }
    }

    @Test(
        "A refresh does not share a revalidation that waits for the refresh",
        arguments: [HTTPAuthentication.required, .optional, .none]
    )
    func revalidatesInsideRefresh(authentication: HTTPAuthentication) async throws {
        let bench = CacheBench(then: Self.echo([.eTag: "\"1\""])) { $0.partition = .none }
        let reader = MenuReader(authentication)
        let session = AuthSession(server: reader)
        let client = try client(bench.cache, bench.origin) {
            $0.timeout = .seconds(45)
            $0.authorize(with: session)
        }
        reader.client.withLock { $0 = client }
        try await session.signIn { BearerCredentials(accessToken: "ann") }
        #expect(try await get(client) == Answer(text: "[\"ann\"]", result: .network))
        await bench.pass(61)
        try await session.signIn {
            BearerCredentials(accessToken: "old", refreshToken: "r", expiresAt: .distantPast)
        }
        #expect(try await get(client) == Answer(text: "[\"new\"]", result: .network))
        #expect(bench.requestCount == 3)
    }

    @Test("A user's responses on disk are found after a restart, even with a renewed token")
    func outlivesProcess() async throws {
        let files = SimulatedFileSystem()
        let credentials = InMemoryCredentialStore<BearerCredentials>()
        let clock = TestClock()
        for process in 0..<3 {
            var disk = DiskCacheTier.Configuration()
            disk.fileSystem = files
            disk.clock = .following(clock)
            let tier = try DiskCacheTier(path: "/cache", configuration: disk)
            let cache = HTTPCache(tier: tier, clock: .following(clock))
            let origin = ScriptedHTTPTransport(then: Self.echo())
            let session = AuthSession(server: Renewing(), store: credentials)
            if process == 0 {
                let granted = BearerCredentials(accessToken: "ann", refreshToken: "r")
                try await session.signIn { granted }
            }
            let client = try client(cache, origin) { $0.authorize(with: session) }
            let answer = try await get(client)
            #expect(answer == Answer(text: "[\"ann\"]", result: process == 0 ? .network : .fresh))
            #expect(origin.calls.count == (process == 0 ? 1 : 0))
            try await session.refresh()
            await tier.close()
        }
    }

    @Test("Consecutive session objects never share a partition")
    func neverMeets() async throws {
        let bench = CacheBench(then: Self.echo())
        var names: Set<String> = []
        for number in 0..<100 {
            // The memory of the previous session may be reused by now.
            let session = AuthSession(server: Renewing())
            try await session.signIn { BearerCredentials(accessToken: "user-\(number)") }
            let client = try client(bench.cache, bench.origin) { $0.authorize(with: session) }
            #expect(try await get(client) == Answer(text: "[\"user-\(number)\"]", result: .network))
            names.insert(try #require(await session.identity))
        }
        #expect(names.count == 100)
    }

    @Test("A new sign-in sees nothing stored for the previous one, not even of the same user")
    func separatesSignIns() async throws {
        let bench = CacheBench(then: Self.echo())
        let session = AuthSession(server: Renewing())
        let client = try client(bench.cache, bench.origin) { $0.authorize(with: session) }
        for user in ["ann", "bob", "ann"] {
            try await session.signIn { BearerCredentials(accessToken: user) }
            #expect(try await get(client) == Answer(text: "[\"\(user)\"]", result: .network))
            #expect(try await get(client) == Answer(text: "[\"\(user)\"]", result: .fresh))
            try await session.signOut()
            #expect((try? await get(client)) == nil)
        }
    }

    @Test("Responses stored without a session are not served to a signed-in user")
    func keepsNobodyApart() async throws {
        let bench = CacheBench(then: Self.echo())
        let session = AuthSession(server: Renewing())
        let client = try client(bench.cache, bench.origin) { $0.authorize(with: session) }
        var options = HTTPCallOptions()
        options.authentication = .optional
        #expect(try await get(client, options) == Answer(text: "[\"nobody\"]", result: .network))
        #expect(try await get(client, options) == Answer(text: "[\"nobody\"]", result: .fresh))
        try await session.signIn { BearerCredentials(accessToken: "ann") }
        #expect(try await get(client, options) == Answer(text: "[\"ann\"]", result: .network))
    }

    @Test(
        "Calls built by hand belong to their user, even with a signing layer listed by hand",
        arguments: [false, true]
    )
    func keepsRawCallsApart(isListed: Bool) async throws {
        let bench = CacheBench(then: Self.echo())
        let head = HTTPRequest("https://api.example.com/menu")
        let origin = try #require(HTTPOrigin(head))
        func send(_ client: NetworkClient) async throws -> Answer {
            let reply = try await client.send(HTTPCall(head))
            let bytes = try await reply.body.collect(upTo: 100)
            return Answer(text: String(decoding: bytes, as: UTF8.self), result: reply.cacheResult)
        }
        var clients: [NetworkClient] = []
        for user in ["ann", "bob"] {
            let session = AuthSession(server: Renewing())
            try await session.signIn { BearerCredentials(accessToken: user) }
            clients.append(
                try client(bench.cache, bench.origin) { configuration in
                    guard isListed else { return configuration.authorize(with: session) }
                    configuration.attemptMiddleware = [
                        BearerAuthorization(session, origins: [origin])
                    ]
                }
            )
        }
        let everybody = try client(bench.cache, bench.origin)
        for (client, user) in zip(clients, ["ann", "bob"]) {
            #expect(try await send(client) == Answer(text: "[\"\(user)\"]", result: .network))
            #expect(try await send(client) == Answer(text: "[\"\(user)\"]", result: .fresh))
            // A call of an endpoint belongs to the same user.
            #expect(try await get(client) == Answer(text: "[\"\(user)\"]", result: .fresh))
        }
        #expect(try await send(everybody) == Answer(text: "[\"nobody\"]", result: .network))
    }

    /// Fails to renew the token when told to.
    private final class Expiring: TokenSource {
        let failure = Mutex<AuthenticationError?>(nil)
        var identity: String? { "ann" }

        func token() throws -> AccessToken {
            if let failure = failure.withLock({ $0 }) { throw failure }
            return AccessToken("ann")
        }
    }

    @Test(
        "Offline, a stale response is served although the token cannot be renewed",
        arguments: [.offline, .deadlineExceeded] as [TransportError.Code]
    )
    func staleWithoutToken(code: TransportError.Code) async throws {
        let tokens = Expiring()
        let bench = CacheBench(then: Self.echo()) { $0.offlineStaleness = .seconds(3600) }
        let client = try client(bench.cache, bench.origin) { $0.authorize(with: tokens) }
        #expect(try await get(client).text == "[\"ann\"]")
        await bench.pass(61)
        let unreachable = NetworkError(TransportError(code))
        tokens.failure.withLock { $0 = AuthenticationError(.refreshFailed, cause: unreachable) }
        #expect(try await get(client) == Answer(text: "[\"ann\"]", result: .stale(.offline)))
        tokens.failure.withLock { $0 = AuthenticationError(.denied) }
        await #expect(throws: TransportError.self) { _ = try await get(client) }
        #expect(bench.requestCount == 1)
    }

    @Test(
        "A call with an owner is answered from the cache, also beside other credentials",
        arguments: [false, true]
    )
    func servesOwners(hasOtherToken: Bool) async throws {
        let other = try #require(HTTPOrigin(HTTPRequest("https://other.example.com/")))
        let bench = CacheBench(then: Self.echo())
        let session = AuthSession(server: Renewing())
        try await session.signIn { BearerCredentials(accessToken: "ann") }
        let client = try client(bench.cache, bench.origin) {
            $0.authorize(with: session)
            $0.attemptMiddleware.append(CookieJar())
            guard hasOtherToken else { return }
            let layer = BearerAuthorization(StaticToken("other"), origins: [other])
            $0.attemptMiddleware.insert(layer, at: 0)
        }
        var options = HTTPCallOptions()
        options.owner = await session.identity
        #expect(try await get(client, options) == Answer(text: "[\"ann\"]", result: .network))
        #expect(try await get(client, options) == Answer(text: "[\"ann\"]", result: .fresh))
        options.owner = "ben"
        await #expect(throws: TransportError.self) { _ = try await get(client, options) }
        #expect(bench.requestCount == 1)
    }

    // MARK: Signers

    /// Another user signs in while the token is fetched.
    private final class Switching: TokenSource {
        private let name = Mutex("ann")
        let next = Mutex<String?>(nil)
        let isNamed: Bool

        init(isNamed: Bool = true) { self.isNamed = isNamed }

        var user: String { name.withLock { $0 } }
        var identity: String? { isNamed ? user : nil }
        func become(_ user: String) { name.withLock { $0 = user } }
        func token() async -> AccessToken {
            if let next = next.withLock({ $0.take() }) { name.withLock { $0 = next } }
            return AccessToken(user)
        }
    }

    @Test(
        "The user of an emptied cookie jar does not get the earlier user's responses",
        arguments: [HTTPAuthentication.required, .none],
        [false, true]
    )
    func separatesCookieUsers(authentication: HTTPAuthentication, hasAppKey: Bool) async throws {
        var options = HTTPCallOptions()
        options.authentication = authentication
        let jar = CookieJar()
        let bench = CacheBench(
            then: .init { call async throws(TransportError) in
                let text = call.head.headerFields[.cookie] ?? "none"
                return HTTPReply(
                    head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"]),
                    body: .chunks([Array(text.utf8)])
                )
            }
        )
        let client = try client(bench.cache, bench.origin) {
            $0.attemptMiddleware = [jar]
            if hasAppKey { $0.defaultHeaders[.authorization] = "Basic YXBwOmtleQ==" }
        }
        let head = HTTPRequest("https://api.example.com/login", .post)
        for user in ["ann", "bob"] {
            jar.store(["sid=\(user); Path=/"], from: head)
            let first = try await get(client, options)
            #expect(first == Answer(text: "sid=\(user)", result: .network))
            let second = try await get(client, options)
            #expect(second == Answer(text: "sid=\(user)", result: .fresh))
            jar.remove()
        }
    }

    @Test("A call of an unknown user that excludes the origin does not reach it")
    func excludesOrigin() async throws {
        let bench = CacheBench(then: Self.echo())
        let client = try client(bench.cache, bench.origin) {
            $0.authorize(with: Switching(isNamed: false))
        }
        var options = HTTPCallOptions()
        options.cachePolicy = .cacheOnly
        #expect(try await get(client, options).result == .missing)
        #expect(bench.requestCount == 0)
    }

    @Test("A response to another user's token is not stored")
    func noticesSwitch() async throws {
        for isCustom in [false, true] {
            let tokens = Switching()
            let bench = CacheBench(then: Self.echo()) {
                if isCustom { $0.partition = .custom { _ in tokens.user } }
            }
            let client = try client(bench.cache, bench.origin) { $0.authorize(with: tokens) }
            tokens.next.withLock { $0 = "bob" }
            #expect(try await get(client).text == "[\"bob\"]")
            tokens.next.withLock { $0 = "ann" }
            _ = try await get(client)
            #expect(try await get(client) == Answer(text: "[\"ann\"]", result: .network))
        }
    }

    @Test("A response to another user's token is not stored if the first user has come back")
    func noticesReturn() async throws {
        let tokens = Switching()
        let bench = CacheBench(then: Self.echo())
        let client = try client(bench.cache, bench.origin) {
            $0.authorize(with: tokens)
            let returning = FieldLayer(name: .server) {
                tokens.become("ann")
                return nil
            }
            $0.attemptMiddleware.append(returning)
        }
        tokens.next.withLock { $0 = "bob" }
        #expect(try await get(client).text == "[\"bob\"]")
        #expect(try await get(client) == Answer(text: "[\"ann\"]", result: .network))
    }

    @Test("A 304 response to another user does not renew the stored response")
    func distrustsValidation() async throws {
        let bench = CacheBench(then: Self.conditional)
        let tokens = Switching()
        let client = try client(bench.cache, bench.origin) { $0.authorize(with: tokens) }
        #expect(try await get(client).text == "[\"ann\"]")
        await bench.pass(61)
        tokens.next.withLock { $0 = "bob" }
        #expect(try await get(client).text == "[\"bob\"]")
        #expect(bench.origin.calls.count == 3)
    }

    /// Answers every conditional request with 304.
    private static let conditional = CacheBench.Answer { call async throws(TransportError) in
        let token = (call.head.headerFields[.authorization] ?? "Bearer nobody").dropFirst(7)
        let isConditional = call.head.headerFields[.ifNoneMatch] != nil
        return HTTPReply(
            head: HTTPResponse(
                status: isConditional ? .notModified : .ok,
                headerFields: [.cacheControl: "max-age=60", .eTag: "\"1\""]
            ),
            body: .chunks(isConditional ? [] : [Array("[\"\(token)\"]".utf8)])
        )
    }

    @Test("A response to unannounced credentials is not reused")
    func distrustsUnannounced() async throws {
        let user = Mutex("ann")
        for isShared in [false, true] {
            let bench = CacheBench(then: Self.echo()) {
                if isShared { $0.audience = .sharedCache }
            }
            let client = try client(bench.cache, bench.origin) {
                $0.attemptMiddleware = [
                    FieldLayer(name: .authorization) { "Bearer " + user.withLock { $0 } }
                ]
            }
            for name in ["ann", "bob"] {
                user.withLock { $0 = name }
                #expect(try await get(client) == Answer(text: "[\"\(name)\"]", result: .network))
            }
        }
    }

    @Test(
        "A cookie jar does not announce the token that another layer adds",
        arguments: [false, true]
    )
    func distrustsUnannouncedBesideCookies(varies: Bool) async throws {
        let user = Mutex("ann")
        let bench = CacheBench(then: Self.echo(varies ? [.vary: "Authorization"] : [:]))
        let client = try client(bench.cache, bench.origin) {
            $0.attemptMiddleware = [
                CookieJar(identity: "balancer"),
                FieldLayer(name: .authorization) { "Bearer " + user.withLock { $0 } },
            ]
        }
        for name in ["ann", "bob"] {
            user.withLock { $0 = name }
            #expect(try await get(client) == Answer(text: "[\"\(name)\"]", result: .network))
        }
    }

    // MARK: Vary

    @Test("A response that varies by a field added below the cache is not reused")
    func looksBelow() async throws {
        let account = try #require(HTTPField.Name("X-Account"))
        let value = Mutex<String?>("17")
        let bench = CacheBench(
            then: CacheBench.Answer { call async throws(TransportError) in
                let text = "[\"\(call.head.headerFields[account] ?? "none")\"]"
                let fields: HTTPFields = [.cacheControl: "max-age=60", .vary: "x-account"]
                return HTTPReply(
                    head: HTTPResponse(status: .ok, headerFields: fields),
                    body: .chunks([Array(text.utf8)])
                )
            }
        )
        let client = try client(bench.cache, bench.origin) {
            $0.attemptMiddleware = [FieldLayer(name: account) { value.withLock { $0 } }]
        }
        for number in ["17", "18", "17"] {
            value.withLock { $0 = number }
            #expect(try await get(client) == Answer(text: "[\"\(number)\"]", result: .network))
        }
        value.withLock { $0 = nil }
        #expect(try await get(client) == Answer(text: "[\"none\"]", result: .network))
        #expect(try await get(client) == Answer(text: "[\"none\"]", result: .fresh))
    }

    @Test("A response that varies by cookies is not reused, even if the jar had none for it")
    func looksForCookies() async throws {
        let jar = CookieJar()
        let bench = CacheBench(
            then: CacheBench.Answer { call async throws(TransportError) in
                let text = call.head.headerFields[.cookie] ?? "none"
                let fields: HTTPFields = [.cacheControl: "max-age=60", .vary: "Cookie"]
                return HTTPReply(
                    head: HTTPResponse(status: .ok, headerFields: fields),
                    body: .chunks([Array(text.utf8)])
                )
            }
        )
        let client = try client(bench.cache, bench.origin) { $0.attemptMiddleware = [jar] }
        #expect(try await get(client) == Answer(text: "none", result: .network))
        jar.store(["sid=ann; Path=/"], from: HTTPRequest("https://api.example.com/login", .post))
        #expect(try await get(client) == Answer(text: "sid=ann", result: .network))
    }

    @Test("Vary ignores the user's own token and a handled content coding")
    func knowsHandledFields() async throws {
        let fields: HTTPFields = [.vary: "Authorization, Accept-Encoding, Origin"]
        let bench = CacheBench(then: Self.echo(fields))
        let session = AuthSession(server: Renewing())
        try await session.signIn { BearerCredentials(accessToken: "ann", refreshToken: "r") }
        let client = try client(bench.cache, bench.origin) {
            $0.authorize(with: session)
            $0.attemptMiddleware.append(FieldLayer(name: .acceptEncoding) { "gzip" })
        }
        _ = try await get(client)
        try await session.refresh()
        #expect(try await get(client) == Answer(text: "[\"ann\"]", result: .fresh))
    }
}
