internal import KeelCore
public import KeelHTTP
import Synchronization

struct AuthCleanUp: Sendable {
    let name: String
    let run: @Sendable (SignOutReason, String?) async throws -> Void

    /// The name under which the store keeps the user whose session the server denied, so that a later clean-up receives
    /// the reason `denied`.
    static let denial = "keel.denial"
}

/// The time during which a session waits for a refresh or for its clean-ups, which must not wait for the session.
final class SessionScope: Sendable {
    /// The refreshes in which the current task was begun, of all sessions.
    @TaskLocal static var refreshes: [SessionScope] = []
    /// The clean-ups in which the current task was begun, of all sessions.
    @TaskLocal static var cleanUps: [SessionScope] = []

    private let session: ObjectIdentifier
    private let hasEnded = Mutex(false)

    init(of session: AnyObject) { self.session = ObjectIdentifier(session) }

    /// Ends the scope: tasks that were begun in it, and that outlive it, may wait for the session.
    func end() { hasEnded.withLock { $0 = true } }

    static var isCurrent: Bool { (refreshes + cleanUps).contains { $0.isOpen } }

    static func isRefresh(of session: AnyObject) -> Bool {
        refreshes.contains { $0.isOpen && $0.session == ObjectIdentifier(session) }
    }

    static func isCleanUp(of session: AnyObject) -> Bool {
        cleanUps.contains { $0.isOpen && $0.session == ObjectIdentifier(session) }
    }

    private var isOpen: Bool { !hasEnded.withLock { $0 } }
}

extension AuthSession {
    typealias CleanUpFailure = (name: String, error: any Error)

    enum Successor: Sendable, Equatable {
        case nobody
        case user(String)
        /// Another process decides: it may have signed in a user.
        case unknown
    }

    enum Clearing: Sendable {
        case everything
        /// These credentials, unless another process has replaced them.
        case only(Credentials)
        case nothing
    }

    /// Adds work to do whenever the session ends, after the store is cleared.
    ///
    /// Clean-ups run in the order in which they were added, even if one throws, and also when another user signs in
    /// without a sign-out. A clean-up that has thrown runs again at the next sign-out, sign-in or launch. Clean-ups
    /// must be harmless when run twice, and must not sign in or out, because the next sign-in waits for them. Their
    /// calls get no token: if they require one, they fail with the code `signedOut` or `superseded` as the cause.
    ///
    /// A clean-up that did not run, because the process was killed or the session ended in another process on the same
    /// store, runs before ``restore()`` returns, if it is added before and the store implements
    /// ``CredentialStore/setUser(_:ofCleanUp:)``.
    ///
    /// - Parameters:
    ///   - name: The name of the clean-up, the same at each launch. Clean-ups of several processes on one store have
    ///     the same name only if they clean up the same data.
    ///   - work: The work to do; it receives the reason for the sign-out.
    public func onSignOut(
        _ name: String,
        _ work: @escaping @Sendable (_ reason: SignOutReason) async throws -> Void
    ) {
        onSignOut(name) { reason, _ in try await work(reason) }
    }

    /// Adds work to do whenever a session ends, like `onSignOut` with only a reason, for the data of one user.
    ///
    /// ```swift
    /// session.onSignOut("outbox") { reason, user in
    ///     if reason == .requested { try await outbox.discardAll(of: user) }
    /// }
    /// ```
    ///
    /// Prefer this method if users share a place: when the work runs, another process may already have signed in the
    /// next user.
    ///
    /// - Parameters:
    ///   - name: The name of the clean-up.
    ///   - work: The work to do; it receives the reason for the sign-out and the ``identity`` of the user, or that of
    ///     all callers without a user if no user was signed in. If the identity is nil, the user is unknown: keep the
    ///     data of other users.
    public func onSignOut(
        _ name: String,
        _ work: @escaping @Sendable (_ reason: SignOutReason, _ user: String?) async throws -> Void
    ) {
        cleanUps.withLock { $0.append(AuthCleanUp(name: name, run: work)) }
    }

    /// Signs the user out, clears the store and runs the clean-ups, even if the caller is canceled.
    ///
    /// The session ends immediately, and calls that wait for a token fail; the method returns after the clean-up.
    /// Signing out again repeats the clean-up. The server is not notified: do that before, because a clean-up gets no
    /// token.
    ///
    /// - Throws: `AuthenticationError` with the code `cleanUpIncomplete`, after all clean-ups ran; its cause is the
    ///   first failure.
    public func signOut() async throws(AuthenticationError) {
        let error = AuthenticationError(.signedOut)
        let (flight, turn, user, identity) = change { ledger in
            _ = ledger.nextOrder()
            let (user, identity) = (ledger.held?.name, ledger.identity)
            return (ledger.end(.requested, error), turns.reserve(), user, identity)
        }
        flight?.abandon(error)
        // A store that refuses canceled calls would keep the user signed in at the next launch.
        let cleaning = Task {
            await cleanUp(
                .requested,
                of: user,
                in: turn,
                clearing: .everything,
                isRepeated: true,
                by: identity
            )
        }
        let failures = await cleaning.value
        guard let first = failures.first else { return }
        throw AuthenticationError(
            .cleanUpIncomplete,
            "The session has ended, but its clean-up failed: "
                + failures.map(\.name).joined(separator: ", ") + ".",
            cause: first.error
        )
    }

    func cleanUp(
        _ reason: SignOutReason,
        of user: String?,
        in turn: Int,
        clearing: Clearing,
        isRepeated: Bool = false,
        by identity: String? = nil
    ) async -> [CleanUpFailure] {
        await turns.begin(turn)
        defer { turns.end() }
        var failures: [CleanUpFailure] = []
        var next = Successor.nobody
        // Before the store is cleared, so that the process may be killed between the two.
        if reason == .denied { try? await store.setUser(user, ofCleanUp: AuthCleanUp.denial) }
        do {
            switch clearing {
            case .everything: try await store.clear()
            case .only(let old):
                // Also if it fails: another process may have replaced them before.
                next = .unknown
                if try await store.replace(old, with: nil) { next = .nobody }
            case .nothing: next = .unknown
            }
        } catch {
            failures.append(("credential store", error))
            policy.onCleanUpFailure("credential store", error)
        }
        failures += await runCleanUps(
            reason,
            of: user,
            next: next,
            isRepeated: isRepeated,
            by: identity
        )
        return failures
    }

    /// Returns the reason for the clean-ups of a sign-in: why the session of the earlier user ended.
    ///
    /// Called in the turn of the sign-in, before the store has the new credentials.
    func reasonBeforeSignIn() async -> SignOutReason {
        guard ledger.withLock({ $0.held }) == nil else { return .replaced }
        do {
            guard try await store.load() == nil else { return .replaced }
        } catch {
            return .replaced
        }
        return state == .signedOut(.denied) ? .denied : .requested
    }

    /// Runs the clean-ups of a user, and those that are still to be done for earlier users.
    ///
    /// Called in a turn.
    ///
    /// - Parameters:
    ///   - reason: The reason for the clean-ups.
    ///   - user: The user whose session ended in this process; nil if there is none.
    ///   - next: The next user, whose data stays.
    ///   - isRepeated: Whether a clean-up runs even if no user is known.
    ///   - identity: The identity that it then receives; nil if the session does not know whether there was a user.
    /// - Returns: The failures; the clean-up is then done again at the next opportunity.
    func runCleanUps(
        _ reason: SignOutReason,
        of user: String?,
        next: Successor,
        isRepeated: Bool = false,
        by identity: String? = nil
    ) async -> [CleanUpFailure] {
        let scope = SessionScope(of: self)
        defer { scope.end() }
        var failures: [CleanUpFailure] = []
        let denied: String? =
            if reason == .requested, !isRepeated {
                try? await store.user(ofCleanUp: AuthCleanUp.denial)
            } else {
                nil
            }
        for work in cleanUps.withLock({ $0 }) {
            do {
                var noted: String?
                var unread: (any Error)?
                do {
                    noted = try await store.user(ofCleanUp: work.name)
                } catch {
                    unread = error
                }
                var users = [user]
                // Where another process may have signed in a user, that user is noted.
                if next != .unknown, noted != user { users.append(noted) }
                let named = users.compactMap { $0 }.filter { next != .user($0) }
                let scopes = SessionScope.cleanUps + [scope]
                try await SessionScope.$cleanUps.withValue(scopes) {
                    for user in named {
                        try await work.run(user == denied ? .denied : reason, user)
                    }
                    if named.isEmpty, isRepeated { try await work.run(reason, identity) }
                }
                // Then only this process's user is known, and the store's remains to be cleaned up after.
                if let unread { throw unread }
                if next != .unknown || noted == user {
                    try await note(next, after: noted, for: work)
                }
            } catch {
                failures.append((work.name, error))
                policy.onCleanUpFailure(work.name, error)
            }
        }
        return failures
    }

    private func note(
        _ next: Successor,
        after noted: String?,
        for work: AuthCleanUp
    ) async throws {
        let name: String? = if case .user(let name) = next { name } else { nil }
        if name != noted { try await store.setUser(name, ofCleanUp: work.name) }
    }
}
