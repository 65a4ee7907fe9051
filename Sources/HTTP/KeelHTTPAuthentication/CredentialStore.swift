import Synchronization

/// A type that keeps the credentials of one session across launches of the app.
///
/// A session calls it from one task at a time. A store promises that ``load()`` returns what the last ``save(_:)``
/// stored, even after the process was killed, and that a failed save leaves either the old or the new credentials,
/// never a mix of both.
public protocol CredentialStore<Credentials>: Sendable {
    /// The type of the credentials.
    associatedtype Credentials: SessionCredentials

    /// Returns the credentials saved last, or nil if there are none.
    func load() async throws -> Credentials?

    /// Replaces the stored credentials.
    func save(_ credentials: Credentials) async throws

    /// Removes the credentials; succeeds if there are none.
    func clear() async throws
}

/// A store whose contents end with the process.
public final class InMemoryCredentialStore<Credentials: SessionCredentials>: CredentialStore,
    CustomReflectable
{
    private let kept: Mutex<Credentials?>

    /// Creates a store, empty by default.
    public init(_ credentials: Credentials? = nil) {
        kept = Mutex(credentials)
    }

    public func load() async -> Credentials? { kept.withLock { $0 } }
    public func save(_ credentials: Credentials) async { kept.withLock { $0 = credentials } }
    public func clear() async { kept.withLock { $0 = nil } }

    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
