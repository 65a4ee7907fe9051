import Synchronization

/// A type that keeps the credentials of one session from one start of the app to the next.
///
/// A session calls it from one task at a time. A store promises that what ``save(_:)`` was given
/// is what ``load()`` returns from then on, also after the process was killed, and that a save
/// which throws left the earlier credentials or saved the new ones, never half of each.
public protocol CredentialStore<Credentials>: Sendable {
    /// The credentials that are kept.
    associatedtype Credentials: SessionCredentials

    /// Returns the credentials saved last, or nil if there are none.
    func load() async throws -> Credentials?

    /// Puts new credentials in the place of the old ones.
    func save(_ credentials: Credentials) async throws

    /// Forgets the credentials; forgetting none succeeds.
    func clear() async throws
}

/// A store that forgets everything when the process ends.
public final class InMemoryCredentialStore<Credentials: SessionCredentials>: CredentialStore,
    CustomReflectable
{
    private let kept: Mutex<Credentials?>

    /// Creates a store, empty unless it is given something.
    public init(_ credentials: Credentials? = nil) {
        kept = Mutex(credentials)
    }

    public func load() async -> Credentials? { kept.withLock { $0 } }
    public func save(_ credentials: Credentials) async { kept.withLock { $0 = credentials } }
    public func clear() async { kept.withLock { $0 = nil } }

    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
