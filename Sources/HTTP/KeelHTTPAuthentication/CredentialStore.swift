import Synchronization

/// A type that keeps the credentials of one session across launches of the app.
///
/// A session calls it from one task at a time. ``load()`` returns the credentials that were saved last, even after the
/// process was killed. A failed save leaves either the old or the new credentials, never a mix of both.
public protocol CredentialStore<Credentials>: Sendable {
    /// The type of the credentials.
    associatedtype Credentials: SessionCredentials

    /// Returns the credentials saved last, or nil if there are none.
    func load() async throws -> Credentials?

    /// Replaces the stored credentials.
    func save(_ credentials: Credentials) async throws

    /// Removes the credentials; succeeds if there are none.
    func clear() async throws

    /// Replaces or removes the stored credentials, if they are still `old`.
    ///
    /// The default implementation reads, compares and writes in separate steps; a store that several processes share
    /// should do so in one step.
    ///
    /// - Returns: Whether the stored credentials were `old`: with the same tokens and, if both have one, the same
    ///   ``SessionCredentials/sessionID``. Otherwise nothing changes.
    func replace(_ old: Credentials, with new: Credentials?) async throws -> Bool

    /// Returns the user that ``setUser(_:ofCleanUp:)`` stored last; nil by default.
    func user(ofCleanUp name: String) async throws -> String?

    /// Stores the user whose data a clean-up has to remove once the session ends; nil if there is none.
    ///
    /// This lets a later session run clean-ups that did not run, because the process was killed or the session ended in
    /// another process. The value is stored for each name, separately from the credentials: ``clear()`` does not remove
    /// it. The default implementation does nothing.
    func setUser(_ user: String?, ofCleanUp name: String) async throws
}

extension CredentialStore {
    public func replace(_ old: Credentials, with new: Credentials?) async throws -> Bool {
        guard let stored = try await load(), stored.matches(old) else { return false }
        if let new { try await save(new) } else { try await clear() }
        return true
    }

    public func user(ofCleanUp name: String) async throws -> String? { nil }

    public func setUser(_ user: String?, ofCleanUp name: String) async throws {}
}

/// A store whose contents end with the process.
public final class InMemoryCredentialStore<Credentials: SessionCredentials>: CredentialStore,
    CustomReflectable
{
    private let kept: Mutex<Credentials?>
    private let users = Mutex<[String: String]>([:])

    /// Creates a store, empty by default.
    public init(_ credentials: Credentials? = nil) {
        kept = Mutex(credentials)
    }

    public func load() async -> Credentials? { kept.withLock { $0 } }
    public func save(_ credentials: Credentials) async { kept.withLock { $0 = credentials } }
    public func clear() async { kept.withLock { $0 = nil } }

    public func replace(_ old: Credentials, with new: Credentials?) async -> Bool {
        kept.withLock { kept in
            guard kept?.matches(old) == true else { return false }
            kept = new
            return true
        }
    }

    public func user(ofCleanUp name: String) async -> String? { users.withLock { $0[name] } }

    public func setUser(_ user: String?, ofCleanUp name: String) async {
        users.withLock { $0[name] = user }
    }

    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
