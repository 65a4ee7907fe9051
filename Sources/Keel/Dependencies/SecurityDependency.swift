#if Crypto
internal import Foundation
public import KeelDependencies
public import KeelSecurity

/// The dependency key of encryption, hashes and random bytes.
///
/// Its live value has a keyset of its own under the process's name, made at the first use and kept:
/// see ``KeelConfiguration/makeSecurity()``. An app that wants another place sets its own in the
/// composition root. A test and a preview have keys that end with them.
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
