public import KeelCore
public import KeelHTTP
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The signed-in user of an app, with the tokens that sign the user's requests.
///
/// ```swift
/// let session = AuthSession(server: OAuthIdentityServer(client, path: "/token"), store: store)
/// try await session.signIn { try await login(email, password) }
/// configuration.authorize(with: session)          // signs the calls of a client
/// for await state in session.states { show(state) }
/// try await session.signOut()
/// ```
///
/// A session promises that
///
/// - callers that need new credentials at the same time share one refresh and its outcome; a canceled caller stops
///   waiting without affecting the others;
/// - new credentials are in the store before they sign a request;
/// - a late refusal, of older credentials or of an earlier user, neither renews nor ends the current session;
/// - a refresh that the server denies ends the session, and any other failure leaves the user signed in. Neither is
///   repeated until a later call needs a token;
/// - several sessions, such as those of an app and its extensions, can share a store, if the credentials store their
///   ``SessionCredentials/sessionID``. A session reads the store before it renews, and again before it accepts a
///   denial, and continues with the credentials or the user that it finds there.
///
/// If the process is killed between the server's response and the save, or if two sessions renew at the same moment, a
/// refresh token is used twice: configure a server that rotates them to accept the old one for a few seconds.
///
/// A refresh runs in its own task, which is canceled when the session ends. Descriptions and mirrors contain no token.
public final class AuthSession<Credentials: SessionCredentials>: TokenSource {
    let server: any IdentityServer<Credentials>
    let store: any CredentialStore<Credentials>
    let policy: AuthSessionPolicy
    let ledger: Mutex<AuthLedger<Credentials>>
    let turns = SerialQueue()
    let cleanUps = Mutex<[AuthCleanUp]>([])
    private let broadcast = StateBroadcast(AuthState.unknown)

    /// Creates a session.
    ///
    /// The store is first read by ``restore()`` or by the first call that needs its contents.
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

    /// Whether a user is signed in.
    public var state: AuthState { ledger.withLock { $0.state } }

    /// The credentials in use; nil if no user is signed in or the store has not been read yet.
    public var current: Credentials? { ledger.withLock { $0.held?.credentials } }

    /// The identifier of the sign-in (``SessionCredentials/sessionID``), not a user's name.
    ///
    /// It survives renewals and restarts. A new sign-in changes it, unless ``signIn(as:_:)`` names the same account
    /// again. All callers without a user share one identifier. A store that has not been read is read first; nil if
    /// that fails.
    public var identity: String? {
        get async {
            if state == .unknown { _ = try? await restore() }
            return ledger.withLock { $0.identity }
        }
    }

    /// The current state and each later one; a slow reader gets only the latest.
    ///
    /// The sequence ends when the session is released.
    public var states: AsyncStream<AuthState> { broadcast.watch() }

    /// Reads the store, unless it has already been read; completes even if the caller is canceled.
    ///
    /// The session first runs the clean-ups that an earlier sign-out or sign-in did not complete: see `onSignOut`.
    ///
    /// - Returns: The state of the session.
    /// - Throws: `AuthenticationError` with the code `storeFailed`.
    @discardableResult
    public func restore() async throws(AuthenticationError) -> AuthState {
        // A clean-up that asks for the state while `restore()` waits for it.
        guard !SessionScope.isCleanUp(of: self) else { return state }
        let turn = turns.reserve()
        // In a canceled task, clean-ups might fail, and the next user would find the data of the last one.
        let reading = Task { () async -> Result<AuthState, AuthenticationError> in
            do throws(AuthenticationError) {
                return .success(try await restore(in: turn))
            } catch {
                return .failure(error)
            }
        }
        return try await reading.value.get()
    }

    private func restore(in turn: Int) async throws(AuthenticationError) -> AuthState {
        await turns.begin(turn)
        defer { turns.end() }
        guard state == .unknown else { return state }
        let stored: Credentials?
        do {
            stored = try await store.load()
        } catch {
            throw AuthenticationError(.storeFailed, cause: error)
        }
        let (credentials, name, isKept) = await named(stored)
        let next = credentials == nil ? Successor.nobody : .user(name)
        // A name that was created for this launch does not show whether the user is still that of the last launch.
        if isKept {
            _ = await runCleanUps(credentials == nil ? .requested : .replaced, of: nil, next: next)
        }
        change { $0.restore(credentials, named: name) }
        return state
    }

    /// Gives credentials without an identifier of their sign-in a new one, and saves it.
    ///
    /// `isKept` is false if the save failed or the credentials do not store the identifier: the next launch creates
    /// another.
    private func named(
        _ stored: Credentials?
    ) async -> (Credentials?, name: String, isKept: Bool) {
        if let name = stored?.sessionID { return (stored, name, true) }
        let name = policy.makeSessionID()
        guard let stored else { return (nil, name, true) }
        var credentials = stored
        credentials.sessionID = name
        guard credentials.sessionID != nil else { return (credentials, name, false) }
        // Another process may meanwhile have renewed them or signed out; the next renewal then follows it.
        _ = try? await store.replace(stored, with: credentials)
        // Read again: a type may have the property and yet not encode it.
        let kept = try? await store.load()?.sessionID
        return (credentials, name, kept == name)
    }

    /// Signs a user in, replacing any previous user.
    ///
    /// The current session continues until `authenticate` has succeeded and the store has the new credentials; the
    /// clean-ups of its user run before the new one takes over. If sign-ins and sign-outs overlap, the one begun last
    /// wins. Once `authenticate` has succeeded, the sign-in is completed even if the caller is canceled.
    ///
    /// - Parameters:
    ///   - account: The name of the account at the identity server, unique and never given to another user, such as a
    ///     user id. The ``identity`` of the session is then the same after each sign-in to the account, so that unsent
    ///     changes and stored responses still belong to the user. Only a hash of the name is stored. If nil, each
    ///     sign-in has an identity of its own.
    ///   - authenticate: Asks the identity server for credentials.
    /// - Throws: The error of `authenticate`; `AuthenticationError` with the code `superseded` if a sign-in or sign-out
    ///   began later, or `storeFailed`.
    public func signIn(
        as account: String? = nil,
        _ authenticate: () async throws -> Credentials
    ) async throws {
        let order = ledger.withLock { $0.nextOrder() }
        var credentials = try await authenticate()
        // Never the identifier of the credentials, because they may be a copy of another user's.
        let name = account.map(Self.identifier) ?? policy.makeSessionID()
        credentials.sessionID = name
        // The clean-ups of the previous user must not fail because the caller is canceled.
        let committing = Task { [credentials] in
            while try await commit(credentials, name, order) == false {}
        }
        try await committing.value
    }

    private static func identifier(of account: String) -> String {
        Hexadecimal.text(of: BLAKE2b.hash(Array("keel account \(account)".utf8), count: 16))
    }

    private func commit(
        _ credentials: Credentials,
        _ name: String,
        _ order: Int
    ) async throws(AuthenticationError) -> Bool {
        // Reserved under the lock, so that the clean-up of a session that ends later comes after.
        let place = ledger.withLock { ledger -> (turn: Int, endings: Int)? in
            guard ledger.order == order else { return nil }
            return (turns.reserve(), ledger.endings)
        }
        guard let place else { throw AuthenticationError(.superseded) }
        await turns.begin(place.turn)
        defer { turns.end() }
        guard ledger.withLock({ $0.endings == place.endings }) else { return false }
        let reason = await reasonBeforeSignIn()
        do {
            try await store.save(credentials)
        } catch {
            throw AuthenticationError(.storeFailed, cause: error)
        }
        let previous = ledger.withLock { $0.held?.name }
        _ = await runCleanUps(reason, of: previous, next: .user(name))
        try? await store.setUser(nil, ofCleanUp: AuthCleanUp.denial)
        let (isDone, replaced) = change { ledger -> (Bool, RefreshFlight?) in
            guard ledger.endings == place.endings else { return (false, nil) }
            return (true, ledger.begin(credentials, named: name))
        }
        replaced?.abandon(AuthenticationError(.superseded))
        return isDone
    }

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

/// The state of an ``AuthSession``.
public enum AuthState: Sendable, Hashable {
    /// The credential store has not been read yet.
    case unknown
    /// No user is signed in.
    case signedOut(SignOutReason)
    /// A user is signed in with credentials of this version, which each renewal and each sign-in increases.
    case signedIn(version: Int)
    /// The user is signed in, but a call found that the credentials have expired or were refused, and they cannot be
    /// renewed.
    case expired
}

/// The reason why no user is signed in.
public enum SignOutReason: Sendable, Hashable {
    /// The store had no credentials when the session first read it.
    case notSignedIn
    /// The app signed the user out, in this session or in another one on the same store.
    case requested
    /// The identity server refused to renew the credentials.
    case denied
    /// Another user signed in; only clean-ups receive this reason.
    case replaced
}

/// The rules for when and how often a session renews its credentials.
public struct AuthSessionPolicy: Sendable {
    /// The time before its expiry at which a token is renewed, in seconds; at most half the lifetime of a token from a
    /// refresh of this session.
    public var leeway: TimeInterval = 60

    /// The maximum number of refreshes begun within ``refreshWindow``; a sign-in restarts the count.
    public var refreshLimit = 5

    /// The period over which refreshes are counted, in seconds.
    public var refreshWindow: TimeInterval = 30

    /// The time after a failed refresh during which a valid token is used without another attempt, in seconds.
    public var delayAfterFailure: TimeInterval = 5

    /// The clock that expiry is compared with.
    public var now: @Sendable () -> Date = { Date() }

    /// A closure that creates the ``SessionCredentials/sessionID`` of sign-ins without an account, each new and
    /// impossible to guess.
    public var makeSessionID: @Sendable () -> String = { UUID().uuidString }

    /// A closure that receives the name and the error of each failed clean-up; the name is `credential store` if the
    /// store could not be cleared.
    ///
    /// Of these errors, ``AuthSession/signOut()`` throws only the first of its own; no other method throws any.
    public var onCleanUpFailure: @Sendable (_ name: String, _ error: any Error) -> Void = { _, _ in
    }

    /// Creates a policy with the default limits.
    public init() {}
}
