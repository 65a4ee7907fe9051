import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Signed-in sessions")
struct AuthSessionTests {
    @Test("Signing in saves the credentials, applies them at once and increments the version")
    func signsIn() async throws {
        let identity = IdentityModel()
        let store = RecordingStore()
        let session = AuthSession(server: identity, store: store)
        #expect(session.state == .unknown)
        #expect(try await session.restore() == .signedOut(.notSignedIn))
        try await session.signIn { identity.grant() }
        #expect(session.state == .signedIn(version: 1))
        #expect(session.current?.accessToken == "access-1-SECRET")
        #expect(store.kept == session.current)
        try await session.refresh()
        #expect(session.state == .signedIn(version: 2))
        #expect(try await session.token().value == "access-2-SECRET")
    }

    @Test("A restart resumes with the stored credentials")
    func restores() async throws {
        let identity = IdentityModel()
        let store = RecordingStore(identity.grant())
        let session = AuthSession(server: identity, store: store)
        #expect(try await session.token().value == "access-1-SECRET")
        #expect(session.state == .signedIn(version: 1))
    }

    @Test("The sequence of states begins with the current state")
    func tellsStates() async throws {
        let identity = IdentityModel()
        let session = AuthSession(server: identity)
        var states = session.states.makeAsyncIterator()
        #expect(await states.next() == .unknown)
        try await session.signIn { identity.grant() }
        #expect(await states.next() == .signedIn(version: 1))
        try await session.refresh()
        #expect(await states.next() == .signedIn(version: 2))
        try await session.signOut()
        #expect(await states.next() == .signedOut(.requested))
    }

    @Test("The sequence of states ends when the session is released")
    func endsStates() async {
        var states = AuthSession(server: IdentityModel()).states.makeAsyncIterator()
        #expect(await states.next() == .unknown)
        #expect(await states.next() == nil)
    }

    @Test("A failed sign-in throws the original error and does not change the session")
    func rethrowsSignIn() async throws {
        struct WrongPassword: Error {}
        let identity = IdentityModel()
        let session = try await identity.signedIn()
        await #expect(throws: WrongPassword.self) {
            try await session.signIn { throw WrongPassword() }
        }
        #expect(session.state == .signedIn(version: 1))
    }

    @Test("A signed-out session provides no token")
    func refusesSignedOut() async throws {
        let session = AuthSession(server: IdentityModel())
        await expectError(AuthenticationError.self, .signedOut) { try await session.token() }
    }

    @Test("A token is renewed once, shortly before it expires")
    func renewsAhead() async throws {
        let dates = TestDates()
        var policy = AuthSessionPolicy()
        policy.now = { dates.now }
        let identity = IdentityModel(lifetime: 3600, now: { dates.now })
        let session = try await identity.signedIn(policy: policy)
        dates.advance(by: 3539)
        #expect(try await session.token().value == "access-1-SECRET")
        dates.advance(by: 1)
        #expect(try await session.token().value == "access-2-SECRET")
        #expect(try await session.token().value == "access-2-SECRET")
        #expect(identity.refreshCount == 1)
    }

    @Test("A token that lives shorter than the leeway is not renewed for each call")
    func toleratesShortLives() async throws {
        let dates = TestDates()
        var policy = AuthSessionPolicy()
        policy.now = { dates.now }
        let identity = IdentityModel(lifetime: 20, now: { dates.now })
        let session = try await identity.signedIn(policy: policy)
        for _ in 0..<10 { _ = try await session.token() }
        #expect(identity.refreshCount == 1)
    }

    @Test("A valid token is used if its early renewal fails")
    func usesOldTokenMeanwhile() async throws {
        let dates = TestDates()
        var policy = AuthSessionPolicy()
        policy.now = { dates.now }
        let identity = IdentityModel(
            lifetime: 100,
            answer: { _ in throw NetworkError(.noConnection) },
            now: { dates.now }
        )
        let session = try await identity.signedIn(policy: policy)
        dates.advance(by: 50)
        for _ in 0..<5 { #expect(try await session.token().value == "access-1-SECRET") }
        #expect(identity.refreshCount == 1)
        dates.advance(by: 50)
        let error = await expectError(AuthenticationError.self, .refreshFailed) {
            try await session.token()
        }
        #expect(error?.isTransient == true)
        #expect(session.state == .signedIn(version: 1))
    }

    @Test("Credentials that cannot be renewed lead to the state expired")
    func expires() async throws {
        let dates = TestDates()
        var policy = AuthSessionPolicy()
        policy.now = { dates.now }
        let session = AuthSession(server: IdentityModel(), policy: policy)
        try await session.signIn {
            BearerCredentials(accessToken: "a", expiresAt: Date(timeIntervalSince1970: 10))
        }
        #expect(try await session.token().value == "a")
        dates.advance(by: 10)
        await expectError(AuthenticationError.self, .expired) { try await session.token() }
        #expect(session.state == .expired)
    }

    @Test("Credentials that expired only by a clock that was ahead are used again")
    func survivesClocksAhead() async throws {
        let dates = TestDates()
        var policy = AuthSessionPolicy()
        policy.now = { dates.now }
        let session = AuthSession(server: IdentityModel(), policy: policy)
        try await session.signIn {
            BearerCredentials(accessToken: "a", expiresAt: Date(timeIntervalSince1970: 100))
        }
        dates.advance(by: 1000)
        await expectError(AuthenticationError.self, .expired) { try await session.token() }
        #expect(session.state == .expired)
        dates.advance(by: -990)
        let token = try await session.token()
        #expect(token.value == "a")
        #expect(session.state == .signedIn(version: 1))
        await expectError(AuthenticationError.self, .expired) {
            try await session.token(after: token)
        }
        await expectError(AuthenticationError.self, .expired) { try await session.token() }
        #expect(session.state == .expired)
    }

    @Test("Too many refreshes within a short time throw an error until the time has passed")
    func limitsRefreshes() async throws {
        let dates = TestDates()
        var policy = AuthSessionPolicy()
        policy.now = { dates.now }
        let identity = IdentityModel()
        let session = try await identity.signedIn(policy: policy)
        for _ in 0..<5 { try await session.refresh() }
        await expectError(AuthenticationError.self, .tooManyRefreshes) {
            try await session.refresh()
        }
        #expect(identity.refreshCount == 5)
        #expect(session.state == .signedIn(version: 6))
        dates.advance(by: 30)
        try await session.refresh()
        #expect(identity.refreshCount == 6)
    }

    @Test("Canceling one waiter does not cancel the refresh for the others")
    func survivesCancellation() async throws {
        let door = Door()
        let identity = IdentityModel { _ in await door.wait() }
        let asked = Mutex(0)
        var policy = AuthSessionPolicy()
        policy.now = {
            asked.withLock { $0 += 1 }
            return Date(timeIntervalSince1970: 0)
        }
        let session = try await identity.signedIn(policy: policy)
        let first = Task { try await session.refresh() }
        await door.waitForArrival()
        let before = asked.withLock { $0 }
        // On one thread: the caller that has read the time waits before any other gets a turn.
        try await VirtualTime().run {
            async let second: Void = session.refresh()
            try await waitUntil { asked.withLock({ $0 }) != before }
            first.cancel()
            await expectError(AuthenticationError.self, .cancelled) { try await first.value }
            door.open()
            try await second
        }
        #expect(session.state == .signedIn(version: 2))
        #expect(identity.refreshCount == 1)
    }

    @Test("A refresh completes even if its only waiter was canceled")
    func finishesUnwatched() async throws {
        let door = Door()
        let identity = IdentityModel { _ in await door.wait() }
        let session = try await identity.signedIn()
        var states = session.states.makeAsyncIterator()
        #expect(await states.next() == .signedIn(version: 1))
        let only = Task { try await session.refresh() }
        await door.waitForArrival()
        only.cancel()
        _ = await only.result
        door.open()
        #expect(await states.next() == .signedIn(version: 2))
    }

    @Test(
        "A final denial ends the session; other failures do not",
        arguments: [
            (400, #"{"error": "invalid_grant"}"#, true),
            (401, #"{"error": "invalid_grant", "error_description": "gone"}"#, true),
            (400, #"{"error": "interaction_required"}"#, true),
            (400, #"{"error": "temporarily_unavailable"}"#, false), (403, "", false),
            (400, #"{"error": "invalid_request"}"#, false), (401, "", false), (400, "", false),
            (401, #"{"error": "invalid_client"}"#, false),
            (400, #"{"error": "unsupported_grant_type"}"#, false),
            (401, "<html>Please sign in to the hotel's network</html>", false),
            (403, #"{"error": "invalid_grant"}"#, false),
            (500, "", false), (500, #"{"error": "invalid_grant"}"#, false), (429, "", false),
        ]
    )
    func tellsDenialFromFailure(status: Int, body: String, ends: Bool) async throws {
        let identity = IdentityModel { _ in
            throw NetworkError(
                .status,
                response: NetworkResponse(
                    head: .init(status: .init(code: status)),
                    body: Array(body.utf8)
                )
            )
        }
        let store = RecordingStore()
        let session = try await identity.signedIn(store: store)
        let error = await #expect(throws: AuthenticationError.self) { try await session.refresh() }
        #expect(error?.code == (ends ? .denied : .refreshFailed))
        #expect(session.state == (ends ? .signedOut(.denied) : .signedIn(version: 1)))
        // The clean-up has its turn before the next sign-in.
        try await session.signIn { identity.grant() }
        #expect(store.log.contains("clear") == ends)
        #expect(store.kept?.accessToken == "access-2-SECRET")
    }

    @Test("Tokens issued before a failed refresh share its failure; later ones start a new refresh")
    func sharesFailure() async throws {
        let identity = IdentityModel { number in
            if number == 1 { throw NetworkError(.noConnection) }
        }
        let session = try await identity.signedIn()
        let early = try await session.token()
        let straggler = try await session.token()
        for token in [early, straggler] {
            await expectError(AuthenticationError.self, .refreshFailed) {
                try await session.token(after: token)
            }
        }
        #expect(identity.refreshCount == 1)
        let late = try await session.token()
        #expect(try await session.token(after: late).value == "access-2-SECRET")
        #expect(try await session.token(after: early).value == "access-2-SECRET")
        #expect(identity.refreshCount == 2)
    }

    @Test("A token request from within a refresh fails instead of deadlocking")
    func findsCircle() async throws {
        let box = Mutex<AuthSession<BearerCredentials>?>(nil)
        let identity = IdentityModel { _ in _ = try await box.withLock({ $0 })?.token() }
        let session = AuthSession(server: identity)
        box.withLock { $0 = session }
        try await session.signIn { identity.grant() }
        let error = await expectError(AuthenticationError.self, .refreshFailed) {
            try await session.refresh()
        }
        #expect((error?.cause as? AuthenticationError)?.code == .insideRefresh)
        box.withLock { $0 = nil }
    }
}

@Suite("Saving and ending a session")
struct AuthSessionEndTests {
    @Test("Renewed credentials are used only after they have been saved")
    func waitsForTheStore() async throws {
        let identity = IdentityModel()
        let store = RecordingStore()
        let session = try await identity.signedIn(store: store)
        store.failNext(2)
        for _ in 0..<2 {
            await expectError(AuthenticationError.self, .storeFailed) {
                try await session.refresh()
            }
        }
        #expect(try await session.token().value == "access-2-SECRET")
        #expect(identity.refreshCount == 1)
        #expect(store.kept?.accessToken == "access-2-SECRET")
        #expect(session.state == .signedIn(version: 2))
    }

    @Test("New credentials are not handed out while the store is saving them")
    func waitsForTheSave() async throws {
        let door = Door()
        let isSlow = Mutex(false)
        let identity = IdentityModel()
        let store = RecordingStore(pause: { if isSlow.withLock({ $0 }) { await door.wait() } })
        let session = try await identity.signedIn(store: store)
        isSlow.withLock { $0 = true }
        let refresh = Task { try await session.refresh() }
        await door.waitForArrival()
        #expect(session.state == .signedIn(version: 1))
        let token = Task {
            let token = try await session.token()
            store.note("token \(token.value)")
        }
        // Only the waiting caller learns of its cancellation; there was no token to return.
        let hasty = Task { try await session.token() }
        hasty.cancel()
        let error = await #expect(throws: AuthenticationError.self) { try await hasty.value }
        #expect(error?.isCancellation == true)
        door.open()
        try await refresh.value
        try await token.value
        #expect(
            store.log == ["save access-1-SECRET", "save access-2-SECRET", "token access-2-SECRET"]
        )
    }

    @Test("Signing out during a refresh ends it for all callers and saves nothing")
    func signsOutDuringRefresh() async throws {
        let door = Door()
        let identity = IdentityModel { _ in await door.wait() }
        let store = RecordingStore()
        let session = try await identity.signedIn(store: store)
        let refresh = Task { try await session.refresh() }
        await door.waitForArrival()
        try await session.signOut()
        await expectError(AuthenticationError.self, .signedOut) { try await refresh.value }
        door.open()
        try await session.signIn { identity.grant() }
        #expect(session.current == store.kept)
        #expect(!store.log.contains("save access-2-SECRET") || store.log.last != "clear")
        #expect(store.kept?.accessToken == session.current?.accessToken)
    }

    @Test("Signing out during a save clears the store afterwards")
    func signsOutDuringSave() async throws {
        let door = Door()
        let isSlow = Mutex(false)
        let identity = IdentityModel()
        let store = RecordingStore(pause: { if isSlow.withLock({ $0 }) { await door.wait() } })
        let session = try await identity.signedIn(store: store)
        isSlow.withLock { $0 = true }
        let refresh = Task { try await session.refresh() }
        await door.waitForArrival()
        let end = Task { try await session.signOut() }
        await #expect(throws: AuthenticationError.self) { try await refresh.value }
        door.open()
        try await end.value
        #expect(store.kept == nil)
        #expect(session.current == nil)
        #expect(store.log == ["save access-1-SECRET", "save access-2-SECRET", "clear"])
    }

    @Test("All clean-ups run in order even if one throws, and the failure is reported")
    func cleansUp() async throws {
        struct Broken: Error {}
        let ran = Mutex<[String]>([])
        let reported = Mutex<[String]>([])
        var policy = AuthSessionPolicy()
        policy.onCleanUpFailure = { name, _ in reported.withLock { $0.append(name) } }
        let identity = IdentityModel()
        let store = RecordingStore()
        let session = AuthSession(server: identity, store: store, policy: policy)
        session.onSignOut("cache") { reason in
            ran.withLock { $0.append("cache \(reason) \(store.kept == nil)") }
            throw Broken()
        }
        session.onSignOut("documents") { _ in ran.withLock { $0.append("documents") } }
        try await session.signIn { identity.grant() }
        let error = await expectError(AuthenticationError.self, .cleanUpIncomplete) {
            try await session.signOut()
        }
        #expect(error?.cause is Broken)
        #expect(error?.message.contains("cache") == true)
        #expect(ran.withLock { $0 } == ["cache requested true", "documents"])
        #expect(reported.withLock { $0 } == ["cache"])
        #expect(session.state == .signedOut(.requested))
    }

    @Test("A denied refresh also runs the clean-ups, and the next sign-in waits for them")
    func cleansUpAfterDenial() async throws {
        let ran = Mutex<[String]>([])
        let identity = IdentityModel { _ in throw AuthenticationError(.denied) }
        let session = AuthSession(server: identity)
        let door = Door()
        session.onSignOut("cache") { reason in
            await door.wait()
            ran.withLock { $0.append("\(reason)") }
        }
        try await session.signIn { identity.grant() }
        await #expect(throws: AuthenticationError.self) { try await session.refresh() }
        await door.waitForArrival()
        try await session.signIn {
            #expect(ran.withLock { $0 }.isEmpty)
            door.open()
            return identity.grant()
        }
        #expect(ran.withLock { $0 } == ["denied"])
        #expect(session.state == .signedIn(version: 2))
    }

    @Test("The sign-in that began last wins, and a sign-out supersedes all of them")
    func ordersSignIns() async throws {
        let door = Door()
        let identity = IdentityModel()
        let store = RecordingStore()
        let session = AuthSession(server: identity, store: store)
        let slow = Task {
            try await session.signIn {
                await door.wait()
                return identity.grant()
            }
        }
        await door.waitForArrival()
        try await session.signIn { identity.grant() }
        door.open()
        await expectError(AuthenticationError.self, .superseded) { try await slow.value }
        #expect(session.current?.accessToken == "access-1-SECRET")

        let other = Door()
        let late = Task {
            try await session.signIn {
                await other.wait()
                return identity.grant()
            }
        }
        await other.waitForArrival()
        try await session.signOut()
        other.open()
        await #expect(throws: AuthenticationError.self) { try await late.value }
        #expect(session.state == .signedOut(.requested))
        #expect(store.kept == nil)
    }

    @Test("No description, dump or mirror contains a token")
    func hidesSecrets() async throws {
        let secret = "SECRET"
        let identity = IdentityModel { number in
            guard number > 1 else { return }
            throw TellTale(text: "the refresh token was refresh-SECRET")
        }
        let session = AuthSession(server: identity, store: InMemoryCredentialStore())
        try await session.signIn { identity.grant() }
        let token = try await session.token()
        let basic = BasicCredentials(user: "me", password: "SECRET")
        try await session.refresh()
        let error = await #expect(throws: AuthenticationError.self) { try await session.refresh() }
        let store = InMemoryCredentialStore(session.current)
        let failure = TransportError(.credentialsUnavailable, cause: error)
        let values: [Any] = [
            session, session.current as Any, token, StaticToken("SECRET"), store,
            error as Any, basic as Any, failure, NetworkError(failure),
        ]
        for value in values {
            var dumped = ""
            dump(value, to: &dumped)
            #expect(!dumped.contains(secret), "\(type(of: value))")
            #expect(!"\(value)".contains(secret))
            #expect(!String(reflecting: value).contains(secret))
        }
        // The planted secrets are real: code that asks for them gets them.
        #expect(token.value.contains(secret))
        #expect(basic?.authorization == "Basic bWU6U0VDUkVU")
    }

    private struct TellTale: Error { let text: String }
}
