import Foundation
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Clean-ups of ended sessions", .timeLimit(.minutes(1)))
struct CleanUpTests {
    private struct Killed: Error {}

    private let identity = IdentityModel()
    private let store = InMemoryCredentialStore<BearerCredentials>()
    private let log = Watched<[String]>([])

    /// Returns the session of a process whose clean-up removes a user's data.
    private func app(isKilled: Bool = false) -> AuthSession<BearerCredentials> {
        let session = AuthSession(server: identity, store: store)
        session.onSignOut("outbox") { [log] reason, user in
            if isKilled { throw Killed() }
            log.change { $0.append("\(reason) \(user ?? "unknown")") }
        }
        return session
    }

    /// Returns the session of a process without data of its own.
    private func widget() -> AuthSession<BearerCredentials> {
        AuthSession(server: identity, store: store)
    }

    private func signIn(
        _ account: String,
        in session: AuthSession<BearerCredentials>
    ) async throws -> String {
        try await session.signIn(as: account) { identity.grant() }
        return try #require(await session.identity)
    }

    /// Refuses to remove the credentials in a canceled task, as secret stores do.
    private struct InterruptibleStore: CredentialStore {
        let base: InMemoryCredentialStore<BearerCredentials>

        func load() async throws -> BearerCredentials? { await base.load() }
        func save(_ credentials: BearerCredentials) async throws { await base.save(credentials) }

        func clear() async throws {
            try Task.checkCancellation()
            await base.clear()
        }
    }

    @Test("A canceled caller signs out completely")
    func outlastsCancellation() async throws {
        let session = AuthSession(server: identity, store: InterruptibleStore(base: store))
        session.onSignOut("outbox") { [log] _ in
            log.change { $0.append("canceled: \(Task.isCancelled)") }
        }
        _ = try await signIn("ann", in: session)
        let caller = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await session.signOut()
        }
        try await caller.value
        #expect(await store.load() == nil)
        #expect(log.value == ["canceled: false"])
    }

    @Test("Clean-ups at a launch and at a sign-in are not canceled with the caller")
    func outlastsCanceledSignIns() async throws {
        func makeSession() -> AuthSession<BearerCredentials> {
            let session = AuthSession(server: identity, store: store)
            session.onSignOut("outbox") { [log] _ in
                log.change { $0.append("canceled: \(Task.isCancelled)") }
            }
            return session
        }
        _ = try await signIn("ann", in: makeSession())
        try await widget().signOut()
        let session = makeSession()
        let launch = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await session.restore()
        }
        #expect(try await launch.value == .signedOut(.notSignedIn))
        #expect(log.value == ["canceled: false"])
        _ = try await signIn("ben", in: session)
        let replacing = Task { [identity] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await session.signIn(as: "cem") { identity.grant() }
        }
        try await replacing.value
        #expect(log.value == ["canceled: false", "canceled: false"])
    }

    @Test("A clean-up that a killed process left undone runs once at the next launch")
    func makesUpForKills() async throws {
        let killed = app(isKilled: true)
        let ann = try await signIn("ann", in: killed)
        await #expect(throws: AuthenticationError.self) { try await killed.signOut() }
        #expect(await store.load() == nil)
        for _ in 1...2 { #expect(try await app().restore() == .signedOut(.notSignedIn)) }
        #expect(log.value == ["requested \(ann)"])
    }

    @Test("A clean-up runs at the next launch after a sign-out in another process")
    func followsSignOuts() async throws {
        let ann = try await signIn("ann", in: app())
        try await widget().signOut()
        for _ in 1...2 { #expect(try await app().restore() == .signedOut(.notSignedIn)) }
        #expect(log.value == ["requested \(ann)"])
    }

    @Test("A clean-up that runs at the next launch is told whether the server denied the session")
    func tellsOfDenials() async throws {
        let ann = try await signIn("ann", in: app())
        let denying = IdentityModel { _ in throw AuthenticationError(.denied) }
        let other = AuthSession(server: denying, store: store)
        await #expect(throws: AuthenticationError.self) { try await other.refresh() }
        try await waitUntil { await store.load() == nil }
        try await app().restore()
        #expect(log.value == ["denied \(ann)"])
        _ = try await signIn("ann", in: app())
        try await widget().signOut()
        try await app().restore()
        #expect(log.value == ["denied \(ann)", "requested \(ann)"])
    }

    @Test("A clean-up that is still to be done at a sign-in is told why the earlier session ended")
    func remembersReasons() async throws {
        let killed = app(isKilled: true)
        let ann = try await signIn("ann", in: killed)
        await #expect(throws: AuthenticationError.self) { try await killed.signOut() }
        // Without `restore()`, after a launch.
        let session = app()
        let ben = try await signIn("ben", in: session)
        #expect(log.value == ["requested \(ann)"])
        let denying = IdentityModel { _ in throw AuthenticationError(.denied) }
        let other = AuthSession(server: denying, store: store)
        await #expect(throws: AuthenticationError.self) { try await other.refresh() }
        try await waitUntil { await store.load() == nil }
        _ = try await signIn("cem", in: app())
        #expect(log.value == ["requested \(ann)", "denied \(ben)"])
    }

    @Test("A clean-up that failed at a sign-out runs at the next sign-in as one of a sign-out")
    func repeatsFailures() async throws {
        let isFull = Watched(true)
        let session = AuthSession(server: identity, store: store)
        session.onSignOut("outbox") { [log] reason, user in
            if isFull.value { throw Killed() }
            log.change { $0.append("\(reason) \(user ?? "unknown")") }
        }
        let ann = try await signIn("ann", in: session)
        await #expect(throws: AuthenticationError.self) { try await session.signOut() }
        isFull.change { $0 = false }
        _ = try await signIn("ben", in: session)
        #expect(log.value == ["requested \(ann)"])
    }

    @Test("A clean-up runs at the next launch after another user signed in in another process")
    func followsSignIns() async throws {
        let ann = try await signIn("ann", in: app())
        let ben = try await signIn("ben", in: widget())
        for _ in 1...2 { #expect(await app().identity == ben) }
        #expect(log.value == ["replaced \(ann)"])
        try await app().signOut()
        #expect(log.value == ["replaced \(ann)", "requested \(ben)"])
    }

    @Test("A session that continues as another process's user first cleans up after its own")
    func cleansUpBeforeAdopting() async throws {
        let session = app()
        let ann = try await signIn("ann", in: session)
        let ben = try await signIn("ben", in: widget())
        await #expect(throws: AuthenticationError.self) { try await session.refresh() }
        #expect(await session.identity == ben)
        #expect(log.value == ["replaced \(ann)"])
    }

    @Test("Another user's sign-in runs the clean-ups before that user takes over")
    func cleansUpBeforeReplacing() async throws {
        let session = app()
        let seen = Watched<[String?]>([])
        session.onSignOut("look") { [weak session] _ in
            let token = session?.current?.accessToken
            seen.change { $0.append(token) }
        }
        let ann = try await signIn("ann", in: session)
        let token = session.current?.accessToken
        let ben = try await signIn("ben", in: session)
        #expect(log.value == ["replaced \(ann)"])
        #expect(seen.value == [token])
        // The same user again keeps the data.
        #expect(try await signIn("ben", in: session) == ben)
        #expect(log.value == ["replaced \(ann)"])
    }

    @Test("Launches do not run the clean-ups of a user whose credentials store no identifier")
    func keepsDataOfUnnamedUsers() async throws {
        let store = InMemoryCredentialStore<UnnamedCredentials>()
        func launch() -> AuthSession<UnnamedCredentials> {
            let session = AuthSession(server: UnnamedServer(), store: store)
            session.onSignOut("outbox") { [log] reason, _ in log.change { $0.append("\(reason)") } }
            return session
        }
        try await launch().signIn { UnnamedCredentials(accessToken: "a") }
        for _ in 1...2 { #expect(try await launch().restore() == .signedIn(version: 1)) }
        #expect(log.value.isEmpty)
        try await launch().signOut()
        #expect(log.value == ["requested"])
    }

    private struct UnnamedCredentials: SessionCredentials {
        var accessToken: String
        var refreshToken: String? { nil }
        var expiresAt: Date? { nil }
    }

    private struct UnnamedServer: IdentityServer {
        func refresh(_ credentials: UnnamedCredentials) async throws -> UnnamedCredentials {
            credentials
        }
    }

    @Test("A clean-up runs at sign-out even if the store cannot tell of earlier users")
    func cleansUpUnderLock() async throws {
        let session = AuthSession(server: identity, store: LockedNotes(kept: store))
        session.onSignOut("outbox") { [log] _, user in log.change { $0.append(user ?? "unknown") } }
        let ann = try await signIn("ann", in: session)
        let error = await #expect(throws: AuthenticationError.self) { try await session.signOut() }
        #expect(error?.cause is LockedNotes.Locked)
        #expect(log.value == [ann])
    }

    @Test("A denial that cannot be stored runs no clean-up of the user of another process")
    func keepsOthersData() async throws {
        let other = app()
        let failing = FailingStore(base: store) { [identity] in
            try await other.signIn(as: "ben") { identity.grant() }
        }
        let denying = IdentityModel { _ in throw AuthenticationError(.denied) }
        let session = AuthSession(server: denying, store: failing)
        session.onSignOut("outbox") { [log] reason, user in
            log.change { $0.append("\(reason) \(user ?? "unknown")") }
        }
        let ann = try await signIn("ann", in: session)
        await #expect(throws: AuthenticationError.self) { try await session.refresh() }
        // After the clean-ups.
        try await session.restore()
        #expect(log.value == ["replaced \(ann)", "denied \(ann)"])
        let ben = await other.identity
        #expect(await store.user(ofCleanUp: "outbox") == ben)
    }

    /// A store that fails to replace credentials, after another process has changed them.
    private struct FailingStore: CredentialStore {
        struct Locked: Error {}
        let base: InMemoryCredentialStore<BearerCredentials>
        let change: @Sendable () async throws -> Void

        func load() async -> BearerCredentials? { await base.load() }
        func save(_ credentials: BearerCredentials) async { await base.save(credentials) }
        func clear() async { await base.clear() }

        func replace(_ old: BearerCredentials, with new: BearerCredentials?) async throws -> Bool {
            try await change()
            throw Locked()
        }

        func user(ofCleanUp name: String) async -> String? { await base.user(ofCleanUp: name) }

        func setUser(_ user: String?, ofCleanUp name: String) async {
            await base.setUser(user, ofCleanUp: name)
        }
    }

    private struct LockedNotes: CredentialStore {
        struct Locked: Error {}
        let kept: InMemoryCredentialStore<BearerCredentials>
        func load() async -> BearerCredentials? { await kept.load() }
        func save(_ credentials: BearerCredentials) async { await kept.save(credentials) }
        func clear() async { await kept.clear() }
        func user(ofCleanUp name: String) async throws -> String? { throw Locked() }
    }

    @Test("A clean-up of a session without a user receives the identity of nobody")
    func namesNobody() async throws {
        let session = app()
        try await session.restore()
        let nobody = try #require(await session.identity)
        try await session.signOut()
        #expect(log.value == ["requested \(nobody)"])
    }

    @Test("A clean-up that asks the session for the user does not wait for itself")
    func doesNotHang() async throws {
        _ = try await signIn("ann", in: app())
        let ben = try await signIn("ben", in: widget())
        let session = app()
        session.onSignOut("look") { [weak session] _ in
            _ = await session?.identity
            _ = try? await session?.token()
        }
        try await session.restore()
        #expect(await session.identity == ben)
    }

    @Test("A clean-up gets no token, but a task that it has begun gets one later")
    func refusesTokens() async throws {
        let session = app()
        let door = Door()
        let late = Watched<Task<String, any Error>?>(nil)
        session.onSignOut("look") { [weak session] _ in
            guard let session else { return }
            await expectError(AuthenticationError.self, .superseded) { try await session.token() }
            late.change {
                $0 = Task {
                    await door.wait()
                    return try await session.token().value
                }
            }
        }
        _ = try await signIn("ann", in: session)
        _ = try await signIn("ben", in: session)
        door.open()
        let token = try await #require(late.value).value
        #expect(token == session.current?.accessToken)
    }

    @Test("A clean-up that reads the store's state at sign-out does not wait for itself")
    func doesNotHangAtSignOut() async throws {
        let session = app()
        session.onSignOut("look") { [weak session] _ in _ = try await session?.restore() }
        _ = try await signIn("ann", in: session)
        try await session.signOut()
        #expect(session.state == .signedOut(.requested))
    }
}
