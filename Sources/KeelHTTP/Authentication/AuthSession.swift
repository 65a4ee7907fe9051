public import KeelCore
import Synchronization

/// The signed-in user of an app, and the tokens that the user's requests are signed with.
///
/// ```swift
/// let session = AuthSession(server: OAuthIdentityServer(client, path: "/token"), store: store)
/// try await session.signIn { try await login(email, password) }
/// configuration.authorize(with: session)          // signs the calls of a client
/// for await state in session.states { show(state) }
/// try await session.signOut()
/// ```
///
/// It promises that
///
/// - many callers who need new credentials cause one refresh and share its outcome; one that is
///   cancelled stops waiting and changes nothing for the others;
/// - new credentials are in the store before any request is signed with them, so that a server
///   which rotates refresh tokens never sees an old one after the process was killed;
/// - a refusal that arrives late, for older credentials or for an earlier user, neither renews nor
///   ends what is current;
/// - a refresh that the server denies ends the session, and one that fails otherwise leaves the
///   credentials as they are; neither is repeated by itself;
/// - several sessions may share a store, such as those of an app and its extensions. A session reads
///   the store before it renews, and again before it accepts a denial. It then goes on with
///   credentials that another session has renewed, and as the user whom another session has signed
///   in. This needs credentials that keep their ``SessionCredentials/sessionID``. Two sessions that
///   renew at the same moment may still use one refresh token twice: let the identity server accept
///   the old token for some seconds.
///
/// A refresh runs in a task of its own, which ends with the identity server's answer and is
/// cancelled when the session ends. Descriptions and mirrors hold no token.
public final class AuthSession<Credentials: SessionCredentials>: TokenSource {
    let server: any IdentityServer<Credentials>
    let store: any CredentialStore<Credentials>
    let policy: AuthSessionPolicy
    let ledger: Mutex<AuthLedger<Credentials>>
    let turns = SerialTurns()
    let cleanUps = Mutex<[AuthCleanUp]>([])
    private let broadcast = StateBroadcast(AuthState.unknown)

    /// Creates a session.
    ///
    /// The store is read by ``restore()``, or by the first call that needs to know.
    ///
    /// - Parameters:
    ///   - server: The server that renews the credentials.
    ///   - store: The store that keeps the credentials.
    ///   - policy: When credentials are renewed.
    public init(
        server: any IdentityServer<Credentials>,
        store: any CredentialStore<Credentials> = InMemoryCredentialStore<Credentials>(),
        policy: AuthSessionPolicy = AuthSessionPolicy()
    ) {
        self.server = server
        self.store = store
        self.policy = policy
        ledger = Mutex(AuthLedger(policy: policy))
    }

    /// Whether somebody is signed in.
    public var state: AuthState { ledger.withLock { $0.state } }

    /// The credentials in use, or nil if nobody is signed in or the store was not read yet.
    public var current: Credentials? { ledger.withLock { $0.held?.credentials } }

    /// Names the sign-in: a random name that is kept with the credentials, not the user's name.
    ///
    /// It is another one after each sign-in, and the same one after renewals and restarts, see
    /// ``SessionCredentials/sessionID``. All who are not signed in have one name. Where the store was
    /// not read yet, it is read first; nil if that fails.
    public var identity: String? {
        get async {
            if state == .unknown { _ = try? await restore() }
            return ledger.withLock { $0.identity }
        }
    }

    /// The state now and after each change; a slow reader gets the newest.
    public var states: AsyncStream<AuthState> { broadcast.watch() }

    /// Reads the store, unless that was done.
    ///
    /// - Returns: Whether somebody is signed in.
    /// - Throws: ``AuthenticationError`` with the code `storeFailed`.
    @discardableResult
    public func restore() async throws(AuthenticationError) -> AuthState {
        let turn = turns.reserve()
        await turns.begin(turn)
        defer { turns.end() }
        guard state == .unknown else { return state }
        do {
            let (credentials, name) = await named(try await store.load())
            change { $0.restore(credentials, named: name) }
        } catch {
            throw AuthenticationError(.storeFailed, cause: error)
        }
        return state
    }

    /// Names the sign-in of credentials that were stored without a name, and keeps the name.
    ///
    /// A store that fails here has lost nothing: the next start makes another name.
    private func named(_ stored: Credentials?) async -> (Credentials?, name: String) {
        if let name = stored?.sessionID { return (stored, name) }
        let name = policy.makeSessionID()
        guard var credentials = stored else { return (nil, name) }
        credentials.sessionID = name
        if credentials.sessionID != nil { try? await store.save(credentials) }
        return (credentials, name)
    }

    /// Signs a user in and takes the place of whoever was signed in before.
    ///
    /// The present session goes on until `authenticate` has succeeded and the store has the new
    /// credentials. Where several sign-ins and sign-outs overlap, the one begun last counts.
    ///
    /// - Throws: The error of `authenticate`; ``AuthenticationError`` with the code `superseded` if
    ///   a later sign-in or sign-out came in between, `storeFailed` if the store failed.
    public func signIn(_ authenticate: () async throws -> Credentials) async throws {
        let order = ledger.withLock { $0.nextOrder() }
        var credentials = try await authenticate()
        // A new name in any case: what is signed in with may be a copy of another user's.
        let name = policy.makeSessionID()
        credentials.sessionID = name
        while try await commit(credentials, name, order) == false {}
    }

    /// Saves and begins a session; returns false if another session ended meanwhile.
    private func commit(
        _ credentials: Credentials,
        _ name: String,
        _ order: Int
    ) async throws(AuthenticationError) -> Bool {
        // Reserved in the lock: the clean-up of a session that ends from now on comes after.
        let place = ledger.withLock { ledger -> (turn: Int, endings: Int)? in
            guard ledger.order == order else { return nil }
            return (turns.reserve(), ledger.endings)
        }
        guard let place else { throw AuthenticationError(.superseded) }
        await turns.begin(place.turn)
        defer { turns.end() }
        guard ledger.withLock({ $0.endings == place.endings }) else { return false }
        do {
            try await store.save(credentials)
        } catch {
            throw AuthenticationError(.storeFailed, cause: error)
        }
        let (isDone, replaced) = change { ledger -> (Bool, RefreshFlight?) in
            guard ledger.endings == place.endings else { return (false, nil) }
            return (true, ledger.begin(credentials, named: name))
        }
        replaced?.abandon(AuthenticationError(.superseded))
        return isDone
    }

    /// Changes the ledger and tells those who watch the state.
    func change<Value: Sendable>(
        _ body: (inout AuthLedger<Credentials>) -> Value
    ) -> Value {
        ledger.withLock { ledger in
            let value = body(&ledger)
            broadcast.set(ledger.state)
            return value
        }
    }
}

extension AuthSession: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "AuthSession(\(state))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["state": state]) }
}
