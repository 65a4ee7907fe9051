#if Crypto
public import KeelDependencies
public import KeelSecurity

/// The dependency key of encryption, hashes and random bytes.
///
/// Its live value has no keys: it hashes and makes random bytes, and encrypting throws
/// `keyNotFound` until the composition root sets a service with the app's keyset. A preview has
/// keys of its own, which end with it.
public enum SecurityDependency: DependencyKey, Sendable {
    public static var liveValue: SecurityService { SecurityService() }

    public static var testValue: SecurityService { SecurityService() }

    public static var previewValue: SecurityService {
        SecurityService(keys: (try? Keyset.make(.aes256GCM)).map { KeyRing($0) })
    }
}

extension DependencyValues {
    /// Encryption, hashes and random bytes.
    public var security: SecurityService {
        get { self[SecurityDependency.self] }
        set { self[SecurityDependency.self] = newValue }
    }
}
#endif
