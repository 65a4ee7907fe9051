#if Crypto
internal import Foundation
public import KeelDependencies
public import KeelSecurity

/// The dependency key of encryption, hashes and random bytes.
///
/// The live value has a persistent keyset under the process's name, created on first use; see
/// ``KeelConfiguration/makeSecurity()``. Tests and previews have temporary keys.
public enum SecurityDependency: DependencyKey, Sendable {
    public static var liveValue: SecurityService {
        KeelConfiguration.production(ProcessInfo.processInfo.processName).makeSecurity()
    }

    public static var testValue: SecurityService { KeelConfiguration.test().makeSecurity() }

    public static var previewValue: SecurityService { KeelConfiguration.preview().makeSecurity() }
}

extension DependencyValues {
    /// Encryption, hashes and random bytes.
    public var security: SecurityService {
        get { self[SecurityDependency.self] }
        set { self[SecurityDependency.self] = newValue }
    }
}
#endif
