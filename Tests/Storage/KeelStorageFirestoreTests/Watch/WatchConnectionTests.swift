import HTTPTypes
import KeelCore
import KeelHTTP
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Listening to a server that refuses", .timeLimit(.minutes(2)))
struct WatchConnectionTests {
    /// A source of numbered tokens, with a new one after each refusal.
    private final class Numbered: TokenSource {
        private let number = Mutex(1)

        func token() async throws -> AccessToken { AccessToken("t\(number.withLock { $0 })") }

        func token(after refused: AccessToken) async throws -> AccessToken {
            number.withLock { $0 += 1 }
            return try await token()
        }
    }

    private typealias Answer = ScriptedHTTPTransport.Answer

    private static let opened = Answer.chunks([Array(RecordedChannel.opening.utf8)])

    /// Returns the reply to a GET with these messages, which stays open.
    private static func stream(_ messages: String...) -> Answer {
        let arrays = messages.enumerated().map { "[\($0.offset + 1),[\($0.element)]]" }
        let text = "[\(arrays.joined(separator: ","))]"
        return .stallingBody(after: [Array("\(text.utf16.count)\n\(text)".utf8)])
    }

    /// Answers the requests that open channels and end them: the end of one and the opening of the next one come in any
    /// order.
    private static func openChannels(of transport: ScriptedHTTPTransport) {
        transport.on(.post, channelPath) { match in
            match.call.head.path?.contains("TYPE=terminate") == true ? .chunks([]) : opened
        }
    }

    /// Returns a server whose channels all have a result without documents.
    private static func withoutDocuments() -> ScriptedHTTPTransport {
        let transport = ScriptedHTTPTransport()
        transport.on(.get, channelPath) { _ in stream(added, current, consistent) }
        openChannels(of: transport)
        return transport
    }

    private static let channelPath = "/google.firestore.v1.Firestore/Listen/channel"

    private static let added = added(2)
    private static let current = current(2)

    private static func added(_ target: Int) -> String {
        #"{"targetChange":{"targetChangeType":"ADD","targetIds":[\#(target)]}}"#
    }

    private static func current(_ target: Int) -> String {
        #"{"targetChange":{"targetChangeType":"CURRENT","targetIds":[\#(target)]}}"#
    }

    private static let consistent =
        #"{"targetChange":{"resumeToken":"AQ==","readTime":"1970-01-01T00:00:05Z"}}"#

    private static func change(_ path: String, _ target: Int = 2) -> String {
        #"{"documentChange":{"targetIds":[\#(target)],"document":\#(document(path))}}"#
    }

    private let request = ChangeRequest(followingResultOf: DocumentQuery("a"))

    /// Returns a feed whose targets are followed although nobody asks for them any more.
    static func feed(
        over transport: some HTTPTransport,
        on clock: TestClock,
        _ tokens: (any TokenSource)?
    ) -> WatchFeed {
        let channel = WebChannel.Configuration(
            scheme: "http",
            authority: "127.0.0.1",
            database: "projects/p/databases/(default)"
        )
        var configuration = WatchConnection.Configuration(channel: channel)
        configuration.clock = clock
        configuration.grace = .seconds(1_000_000)
        return WatchFeed(WatchConnection(configuration, transport: transport, tokens: tokens))
    }

    /// The tokens of the channels that were opened.
    private func tokens(_ scripted: Scripted) -> [String] { tokens(scripted.transport) }

    private func tokens(_ transport: ScriptedHTTPTransport) -> [String] {
        transport.calls.compactMap { call in
            guard let start = call.text.firstRange(of: "Bearer%20") else { return nil }
            return String(call.text[start.upperBound...].prefix { $0 != "%" })
        }
    }

    @Test("The first request of a channel carries the token, and the target")
    func isSigned() async throws {
        let scripted = Scripted.google(
            [
                Self.opened,
                Self.stream(Self.added, Self.change("a/1"), Self.current, Self.consistent),
            ],
            authentication: .token("t")
        )
        let page = try await scripted.adapter.changes(request)
        #expect(page.changes.map(\.path) == ["a/1"])
        #expect(page.isCaughtUp)
        #expect(page.time == Timestamp(microseconds: 5_000_000))
        #expect(tokens(scripted) == ["t"])
        let first = try #require(scripted.transport.calls.first)
        #expect(first.text.contains("addTarget"))
        #expect(first.head.headerFields[.authorization] == nil)
    }

    @Test("A refused token is renewed once for a channel, by status and in the stream")
    func renewsToken() async throws {
        let error = #"{"error":{"code":401,"status":"UNAUTHENTICATED","message":"expired"}}"#
        let refusals: [[Answer]] = [
            [.refusal(401, "UNAUTHENTICATED")],
            [Self.opened, Self.stream(error)],
        ]
        for refusal in refusals {
            let scripted = Scripted.google(
                refusal + [Self.opened, Self.stream(Self.added, Self.current, Self.consistent)],
                authentication: .idToken(Numbered())
            )
            #expect(try await scripted.adapter.changes(request).changes.isEmpty)
            #expect(tokens(scripted) == ["t1", "t2"])
        }
    }

    @Test("A token that is refused again is an error")
    func givesUp() async throws {
        let scripted = Scripted.google(
            [.refusal(401, "UNAUTHENTICATED"), .refusal(401, "UNAUTHENTICATED")],
            authentication: .idToken(Numbered())
        )
        await expect(.unauthenticated) { _ = try await scripted.adapter.changes(request) }
        #expect(tokens(scripted) == ["t1", "t2"])
    }

    @Test("A channel is replaced by one with a new token before the token expires")
    func replacesToken() async throws {
        let transport = Self.withoutDocuments()
        let clock = TestClock()
        let feed = Self.feed(over: transport, on: clock, Numbered())
        #expect(try await feed.changes(request).isCaughtUp)
        await clock.advance(by: .seconds(54 * 60))
        #expect(tokens(transport) == ["t1"])
        await clock.advance(by: .seconds(60))
        try await waitUntil { tokens(transport).count == 2 }
        #expect(tokens(transport) == ["t1", "t2"])
        let last = try #require(transport.calls.last { $0.text.contains("addTarget") })
        #expect(last.text.contains("resumeToken"))
        #expect(await feed.targetCount == 1)
    }

    /// A source whose token cannot be renewed.
    private struct Unrenewable: TokenSource {
        let reason: AuthenticationError.Code

        func token() async throws -> AccessToken { AccessToken("t") }

        func token(after refused: AccessToken) async throws -> AccessToken {
            throw AuthenticationError(reason)
        }
    }

    @Test("A channel whose token is that of an earlier sign-in is replaced by one of the present")
    func signsInAgain() async throws {
        let transport = Self.withoutDocuments()
        let clock = TestClock()
        let feed = Self.feed(over: transport, on: clock, Unrenewable(reason: .superseded))
        #expect(try await feed.changes(request).isCaughtUp)
        await clock.advance(by: .seconds(55 * 60))
        try await waitUntil { tokens(transport).count == 2 }
        #expect(await feed.targetCount == 1)
    }

    @Test("A token whose renewal has failed is used while there is no other")
    func renewalFails() async throws {
        let transport = Self.withoutDocuments()
        let clock = TestClock()
        // As an `AuthSession`, which does not repeat a renewal that has failed for the same token.
        let feed = Self.feed(over: transport, on: clock, Unrenewable(reason: .refreshFailed))
        #expect(try await feed.changes(request).isCaughtUp)
        await clock.advance(by: .seconds(55 * 60))
        try await waitUntil {
            // A pause follows the failure.
            await clock.advance(by: .milliseconds(100))
            return tokens(transport).count > 1
        }
        #expect(await feed.targetCount == 1)
    }

    @Test("A listener whose documents are not those of the server gets the result anew")
    func healsDivergence() async throws {
        let removed = #"{"targetChange":{"targetChangeType":"REMOVE","targetIds":[2]}}"#
        let consistentAgain =
            #"{"targetChange":{"resumeToken":"Ag==","readTime":"1970-01-01T00:00:06Z"}}"#
        let scripted = Scripted.google([
            Self.opened,
            Self.stream(
                Self.added,
                Self.change("a/1"),
                Self.change("a/2"),
                Self.current,
                Self.consistent,
                #"{"filter":{"targetId":2,"count":1}}"#,
                removed,
                Self.added,
                Self.change("a/2"),
                Self.current,
                consistentAgain
            ),
            // The reply to the request that removes the target and adds it.
            .chunks([Array("7\n[1,6,0]".utf8)]),
        ])
        var snapshots = StorageClient(scripted.adapter).listen(to: DocumentQuery("a"))
            .makeAsyncIterator()
        var found: [DocumentPath] = []
        while found != ["a/2"] {
            found = try #require(try await snapshots.next()).documents.map(\.path)
        }
        try await waitUntil {
            scripted.transport.calls.contains { call in
                call.text.contains("removeTarget") && call.text.contains("addTarget")
            }
        }
    }

    @Test("A server without WebChannel is not asked again for a while, and listeners poll")
    func polls() async throws {
        let found = "[{\"document\": \(document("a/1")), \"readTime\": \"1970-01-01T00:00:05Z\"}]"
        let scripted = Scripted.google([.refusal(404, "NOT_FOUND"), .json(found)])
        await expect(.unsupported) { _ = try await scripted.adapter.changes(request) }
        await expect(.unsupported) { _ = try await scripted.adapter.changes(request) }
        var snapshots = StorageClient(scripted.adapter).listen(to: DocumentQuery("a"))
            .makeAsyncIterator()
        #expect(try await snapshots.next()?.documents.map(\.path) == ["a/1"])
        // The listener may have polled again meanwhile.
        #expect(scripted.requests.count { $0.contains("/Listen/channel") } == 1)
    }

    @Test("A target that the server ends fails its readers with the reason")
    func endsTarget() async throws {
        let removed = """
            {"targetChange":{"targetChangeType":"REMOVE","targetIds":[2],
            "cause":{"code":7,"message":"no"}}}
            """
        let scripted = Scripted.google([Self.opened, Self.stream(Self.added, removed)])
        await expect(.permissionDenied) { _ = try await scripted.adapter.changes(request) }
    }

    @Test("A server that cannot be reached fails the first request, for a listener to repeat")
    func unreachable() async throws {
        let scripted = Scripted.google([.failure(TransportError(.connectionRefused))])
        let error = await expect(.unavailable) { _ = try await scripted.adapter.changes(request) }
        #expect(error?.isTransient == true)
    }

    @Test("A server that breaks the protocol once is asked again")
    func malformed() async throws {
        let scripted = Scripted.google([
            Self.stream(#"{"targetChange":{"targetIds":1}}"#),
            Self.stream(Self.added, Self.current, Self.consistent),
        ])
        Self.openChannels(of: scripted.transport)
        let error = await expect(.unavailable) { _ = try await scripted.adapter.changes(request) }
        #expect((error?.cause as? StorageError)?.code == .invalidReply)
        #expect(try await scripted.adapter.changes(request).isCaughtUp)
    }

    @Test("What follows a message that cannot be read is not taken for the state behind it")
    func stopsAtFlaw() async throws {
        let later = #"{"targetChange":{"resumeToken":"Ag==","readTime":"1970-01-01T00:00:06Z"}}"#
        let transport = ScriptedHTTPTransport([
            Self.stream(
                Self.added,
                Self.current,
                Self.consistent,
                #"{"targetChange":{"targetIds":1}}"#,
                later
            ),
            Self.stream(Self.added, Self.change("a/1"), Self.current, later),
        ])
        Self.openChannels(of: transport)
        let feed = Self.feed(over: transport, on: TestClock(), Numbered())
        #expect(try await feed.changes(request).isCaughtUp)
        try await waitUntil { tokens(transport).count == 2 }
        let last = try #require(transport.calls.last { $0.text.contains("addTarget") })
        // The token before the message, and not the one behind it.
        #expect(last.text.contains("AQ%3D%3D"))
    }

    @Test(
        "A failure of the server when a channel opens does not end its readers",
        arguments: [(500, "INTERNAL"), (500, nil), (302, nil), (511, nil)]
    )
    func opensAnew(_ status: Int, _ name: String?) async throws {
        let page = Answer.json("<html>", status: HTTPResponse.Status(code: status))
        let scripted = Scripted.google([
            name.map { Answer.refusal(status, $0) } ?? page,
            Self.opened, Self.stream(Self.added, Self.current, Self.consistent),
        ])
        await expect(.unavailable) { _ = try await scripted.adapter.changes(request) }
        #expect(try await scripted.adapter.changes(request).isCaughtUp)
    }

    /// A source with the tokens of the user who is signed in.
    private final class Switched: TokenSource {
        let user = Mutex("ann")
        /// How often the user was asked for.
        let questions = Mutex(0)

        var identity: String? {
            let name = user.withLock { $0 }
            questions.withLock { $0 += 1 }
            return name
        }

        func token() async throws -> AccessToken { AccessToken("of-\(user.withLock { $0 })") }
    }

    @Test("Another user gets neither the channel nor the result of the former one")
    func changesUser() async throws {
        let source = Switched()
        let scripted = Scripted.google(
            [
                Self.stream(Self.added, Self.change("a/1"), Self.current, Self.consistent),
                Self.stream(Self.added(4), Self.change("a/2", 4), Self.current(4), Self.consistent),
            ],
            authentication: .idToken(source)
        )
        Self.openChannels(of: scripted.transport)
        let former = try await scripted.adapter.changes(request)
        #expect(former.changes.map(\.path) == ["a/1"])
        source.user.withLock { $0 = "ben" }
        let page = try await scripted.adapter.changes(request)
        #expect(page.changes.map(\.path) == ["a/2"])
        #expect(tokens(scripted) == ["of-ann", "of-ben"])
    }

    /// A source whose first token waits at a gate after it was issued.
    private final class Gated: TokenSource {
        let user = Mutex("ann")
        let gate = Gate()

        var identity: String? { user.withLock { $0 } }

        func token() async throws -> AccessToken {
            let token = AccessToken("of-\(user.withLock { $0 })")
            try await gate.pass()
            return token
        }
    }

    @Test("A token that arrives after its user has signed out opens no channel for the next user")
    func changesUserDuringToken() async throws {
        let source = Gated()
        let scripted = Scripted.google(
            [Self.stream(Self.added(4), Self.change("a/2", 4), Self.current(4), Self.consistent)],
            authentication: .idToken(source)
        )
        Self.openChannels(of: scripted.transport)
        let former = Task { [request] in try await scripted.adapter.changes(request) }
        try await waitUntil { source.gate.begunCount == 1 }
        source.user.withLock { $0 = "ben" }
        let present = Task { [request] in try await scripted.adapter.changes(request) }
        await expect(.cursorExpired) { _ = try await former.value }
        source.gate.open()
        #expect(try await present.value.changes.map(\.path) == ["a/2"])
        #expect(tokens(scripted) == ["of-ben"])
    }

    @Test("A position of the former user is not continued for another one")
    func changesUserBetweenReads() async throws {
        let source = Switched()
        let scripted = Scripted.google(
            [
                Self.stream(Self.added, Self.change("a/1"), Self.current, Self.consistent),
                Self.stream(Self.added(4), Self.current(4), Self.consistent),
            ],
            authentication: .idToken(source)
        )
        Self.openChannels(of: scripted.transport)
        var next = request
        next.after = try await scripted.adapter.changes(request).next
        source.user.withLock { $0 = "ben" }
        await expect(.cursorExpired) { _ = try await scripted.adapter.changes(next) }
        #expect(try await scripted.adapter.changes(request).changes.isEmpty)
        #expect(scripted.transport.calls.allSatisfy { !$0.text.contains("resumeToken") })
    }

    @Test("A reader that waits does not get what arrives for a user who has signed out")
    func changesUserWhileWaiting() async throws {
        let store = InMemoryStorageAdapter()
        let source = Switched()
        let transport = HandlerTransport(StorageServer(adapter: store))
        let feed = Self.feed(over: transport, on: TestClock(), source)
        var next = request
        next.after = try await feed.changes(request).next
        next.waitTimeout = .seconds(60)
        let asked = source.questions.withLock { $0 }
        let waiting = Task { [next] in try await feed.changes(next) }
        try await waitUntil { source.questions.withLock { $0 } > asked }
        // It is answered once the reader waits.
        #expect(await feed.targetCount == 1)
        source.user.withLock { $0 = "ben" }
        try await StorageClient(store).setDocument("a/1", ["n": 1])
        await expect(.cursorExpired) { _ = try await waiting.value }
    }

    @Test("A reader that begins while a resumed one waits gets the whole result")
    func beginsBesideResumed() async throws {
        let store = InMemoryStorageAdapter()
        try await StorageClient(store).setDocument("a/1", ["n": 1])
        let start = try await Served.plain(store).changes(request)
        let adapter = Served.plain(store)
        var next = request
        next.after = start.next
        next.waitTimeout = .seconds(5)
        async let resumed = adapter.changes(next)
        #expect(try await adapter.changes(request).changes.map(\.path) == ["a/1"])
        try await StorageClient(store).setDocument("a/2", ["n": 2])
        _ = try? await resumed
    }

    @Test("A reader that waits is not told that nothing has changed while there is no channel")
    func knowsNothing() async throws {
        let scripted = Scripted.google([
            Self.opened, Self.stream(Self.added, Self.current, Self.consistent),
        ])
        let start = try await scripted.adapter.changes(request)
        let away = Scripted.google([.stall])
        var next = request
        next.after = start.next
        next.waitTimeout = .milliseconds(50)
        await expect(.unavailable) { _ = try await away.adapter.changes(next) }
    }

    @Test("Only a query or single documents can be followed")
    func refusesScopes() async throws {
        let scripted = Scripted.google()
        for scope in [ChangeScope.everything, .collections(["a"]), .groups(["a"]), ChangeScope()] {
            await expect(.unsupported) {
                _ = try await scripted.adapter.changes(ChangeRequest(scope: scope))
            }
        }
        await expect(.invalidArgument) {
            var request = request
            request.after = ChangeCursor(bytes: [1, 2, 3])
            _ = try await scripted.adapter.changes(request)
        }
        #expect(scripted.requests.isEmpty)
    }
}
