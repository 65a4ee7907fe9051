import Foundation
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelTestKit
import KeelTestSupport
import Testing

/// An app and its extension: two sessions that share a store.
@Suite("Sessions that share a store", .timeLimit(.minutes(1)))
struct SharedStoreTests {
    private let dates = TestDates()

    private func session(
        _ identity: IdentityModel,
        _ store: RecordingStore
    ) async throws -> AuthSession<BearerCredentials> {
        var policy = AuthSessionPolicy()
        policy.now = { [dates] in dates.now }
        let session = AuthSession(server: identity, store: store, policy: policy)
        try await session.restore()
        return session
    }

    @Test("A session adopts the other session's renewed token, and no refresh token is used twice")
    func adopts() async throws {
        let identity = IdentityModel()
        let store = RecordingStore(identity.grant())
        let app = try await session(identity, store)
        let widget = try await session(identity, store)
        let name = await app.identity
        for round in 1...3 {
            identity.revokeAccess()
            let (first, second) = round == 2 ? (widget, app) : (app, widget)
            let refused = try await second.token()
            try await first.refresh()
            #expect(try await second.token(after: refused).value == first.current?.accessToken)
            #expect(identity.refreshCount == round)
        }
        #expect(identity.reuseCount == 0)
        #expect(await app.identity == name)
        #expect(await widget.identity == name)
        #expect(store.log.filter { $0 == "clear" }.isEmpty)
    }

    @Test("An expired token adopted from another session is renewed with its own refresh token")
    func renewsWhatItFinds() async throws {
        let identity = IdentityModel(lifetime: 100, now: { [dates] in dates.now })
        let store = RecordingStore(identity.grant())
        let app = try await session(identity, store)
        let widget = try await session(identity, store)
        try await app.refresh()
        dates.advance(by: 1000)
        #expect(try await widget.token().value == "access-3-SECRET")
        #expect(identity.refreshCount == 2)
        #expect(identity.reuseCount == 0)
        #expect(try await app.token().value == "access-3-SECRET")
        #expect(identity.refreshCount == 2)
    }

    @Test("A denial of a refresh token used up by another session signs nobody out")
    func outlivesRaces() async throws {
        let door = Door()
        let identity = IdentityModel(answer: { if $0 == 1 { await door.wait() } })
        let store = RecordingStore(identity.grant())
        let app = try await session(identity, store)
        let widget = try await session(identity, store)
        let cleanUps = Watched(0)
        widget.onSignOut("count") { _ in cleanUps.change { $0 += 1 } }
        let late = Task { try await widget.refresh() }
        await door.waitForArrival()
        try await app.refresh()
        door.open()
        try await late.value
        #expect(identity.reuseCount == 1)
        #expect(widget.current == app.current)
        #expect(widget.state == .signedIn(version: 2))
        #expect(cleanUps.value == 0)
        #expect(store.kept == app.current)
        // The next refusal reveals that the server has ended the grant, and is final.
        await #expect(throws: AuthenticationError.self) { try await widget.refresh() }
        #expect(widget.state == .signedOut(.denied))
        // The refusal may arrive before the clean-ups have run; they have their turn before this call.
        try await widget.restore()
        #expect(cleanUps.value == 1)
    }

    @Test("A sign-in in one session becomes the user of all sessions with their next renewal")
    func followsUsers() async throws {
        let door = Door()
        let identity = IdentityModel(answer: { if $0 == 1 { await door.wait() } })
        let store = RecordingStore(identity.grant())
        let app = try await session(identity, store)
        let before = try await session(identity, store)
        let during = try await session(identity, store)
        let late = Task { try await during.refresh() }
        await door.waitForArrival()
        try await app.signIn { identity.grant() }
        let name = try #require(await app.identity)
        // A caller of the previous user gets no token of the next one.
        await expectError(AuthenticationError.self, .superseded) { try await before.refresh() }
        door.open()
        await expectError(AuthenticationError.self, .superseded) { try await late.value }
        for session in [before, during] {
            #expect(await session.identity == name)
            #expect(try await session.token().value == app.current?.accessToken)
        }
        #expect(store.kept == app.current)
        #expect(identity.refreshCount == 1)
    }

    @Test(
        "A sign-out in one session signs out all, and no renewal brings the user back",
        arguments: [false, true]
    )
    func followsSignOuts(isUnderWay: Bool) async throws {
        let door = Door()
        let identity = IdentityModel(answer: { _ in await door.wait() })
        let store = RecordingStore(identity.grant())
        let app = try await session(identity, store)
        let widget = try await session(identity, store)
        let cleanUps = Watched(0)
        widget.onSignOut("count") { _ in cleanUps.change { $0 += 1 } }
        if !isUnderWay { try await app.signOut() }
        let late = Task { try await widget.refresh() }
        if isUnderWay {
            await door.waitForArrival()
            try await app.signOut()
        }
        door.open()
        await expectError(AuthenticationError.self, .signedOut) { try await late.value }
        #expect(widget.state == .signedOut(.requested))
        // The error may arrive before the clean-ups have run; they have their turn before this call.
        try await widget.restore()
        #expect(cleanUps.value == 1)
        #expect(store.kept == nil)
    }

    /// A store whose sessions wait before they replace credentials, as if another process were faster.
    private struct SlowStore: CredentialStore {
        let upstream: InMemoryCredentialStore<BearerCredentials>
        let door: Door

        func load() async -> BearerCredentials? { await upstream.load() }
        func save(_ credentials: BearerCredentials) async { await upstream.save(credentials) }
        func clear() async { await upstream.clear() }

        func replace(_ old: BearerCredentials, with new: BearerCredentials?) async -> Bool {
            await door.wait()
            return await upstream.replace(old, with: new)
        }
    }

    @Test("A sign-out between the read and the save of a renewal is not undone")
    func keepsSignOuts() async throws {
        let door = Door()
        let identity = IdentityModel()
        let store = InMemoryCredentialStore(identity.grant())
        let app = AuthSession(server: identity, store: store)
        let widget = AuthSession(server: identity, store: SlowStore(upstream: store, door: door))
        try await app.restore()
        try await widget.restore()
        let late = Task { try await widget.refresh() }
        await door.waitForArrival()
        try await app.signOut()
        door.open()
        await expectError(AuthenticationError.self, .signedOut) { try await late.value }
        #expect(widget.state == .signedOut(.requested))
        #expect(await store.load() == nil)
    }

    @Test("A denial does not remove the credentials that another session saves meanwhile")
    func keepsSignIns() async throws {
        let door = Door()
        let identity = IdentityModel { _ in throw AuthenticationError(.denied) }
        let store = InMemoryCredentialStore(identity.grant())
        let app = AuthSession(server: identity, store: store)
        let widget = AuthSession(server: identity, store: SlowStore(upstream: store, door: door))
        let isCleanedUp = Watched(false)
        widget.onSignOut("end") { _ in isCleanedUp.change { $0 = true } }
        try await app.restore()
        try await widget.restore()
        let late = Task { try await widget.refresh() }
        await door.waitForArrival()
        try await app.signIn { identity.grant() }
        door.open()
        await #expect(throws: AuthenticationError.self) { try await late.value }
        try await waitUntil { isCleanedUp.value }
        #expect(widget.state == .signedOut(.denied))
        #expect(await store.load() == app.current)
    }

    @Test("A denial is not final while the store cannot be read")
    func outlivesLockedStores() async throws {
        let identity = IdentityModel()
        let store = RecordingStore(identity.grant())
        let app = try await session(identity, store)
        let widget = try await session(identity, store)
        try await app.refresh()
        store.isReadable.change { $0 = false }
        await expectError(AuthenticationError.self, .refreshFailed) { try await widget.refresh() }
        #expect(store.kept == app.current)
        #expect(widget.state == .signedIn(version: 1))
    }
}
