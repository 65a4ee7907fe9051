internal import KeelCore
public import KeelHTTP
import Synchronization

/// Work to do when a session ends.
struct AuthCleanUp: Sendable {
    let name: String
    let run: @Sendable (SignOutReason) async throws -> Void
}

extension AuthSession {
    /// Adds work to do whenever the session ends, after the store is cleared.
    ///
    /// All clean-ups run in the order in which they were added, even if one throws. They must be harmless when run
    /// twice, and must not sign in or out, because the next sign-in waits for them.
    ///
    /// - Parameters:
    ///   - name: The name under which a failure is reported.
    ///   - work: The work to do; it receives the reason for the sign-out.
    public func onSignOut(
        _ name: String,
        _ work: @escaping @Sendable (SignOutReason) async throws -> Void
    ) {
        cleanUps.withLock { $0.append(AuthCleanUp(name: name, run: work)) }
    }

    /// Signs the user out, clears the store and runs the clean-ups.
    ///
    /// The session ends immediately, and calls that wait for a token fail; the method returns after the clean-up.
    /// Signing out again repeats the clean-up. The server is not notified: do that in a clean-up, or before.
    ///
    /// - Throws: `AuthenticationError` with the code `cleanUpIncomplete` after all clean-ups ran; its cause is the
    ///   first failure.
    public func signOut() async throws(AuthenticationError) {
        let error = AuthenticationError(.signedOut)
        let (flight, turn) = change { ledger in
            _ = ledger.nextOrder()
            return (ledger.end(.requested, error), turns.reserve())
        }
        flight?.abandon(error)
        let failures = await cleanUp(.requested, in: turn)
        guard let first = failures.first else { return }
        throw AuthenticationError(
            .cleanUpIncomplete,
            "The session has ended, but its clean-up failed: "
                + failures.map(\.name).joined(separator: ", ") + ".",
            cause: first.error
        )
    }

    /// Clears the store and runs the clean-ups in a turn that was reserved when the session ended.
    func cleanUp(
        _ reason: SignOutReason,
        in turn: Int,
        clearingStore: Bool = true
    ) async -> [(name: String, error: any Error)] {
        await turns.begin(turn)
        defer { turns.end() }
        var failures: [(name: String, error: any Error)] = []
        if clearingStore {
            do {
                try await store.clear()
            } catch {
                failures.append(("credential store", error))
            }
        }
        for work in cleanUps.withLock({ $0 }) {
            do {
                try await work.run(reason)
            } catch {
                failures.append((work.name, error))
            }
        }
        for failure in failures { policy.onCleanUpFailure(failure.name, failure.error) }
        return failures
    }
}
