internal import Synchronization

/// An adapter that keeps secrets in memory, for tests and previews.
public final class InMemorySecretStoreAdapter: SecretStoreAdapter {
    private let secrets: Mutex<[SecretName: [UInt8]]>

    /// Creates a store with initial secrets.
    public init(_ secrets: [SecretName: [UInt8]] = [:]) { self.secrets = Mutex(secrets) }

    public func capabilities() async -> SecretStoreCapabilities {
        SecretStoreCapabilities(kind: .memory, features: .writable)
    }

    public func read(_ name: SecretName) async throws(SecretError) -> [UInt8]? {
        secrets.withLock { $0[name] }
    }

    public func replace(
        _ name: SecretName,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool {
        secrets.withLock { secrets in
            guard expectation.holds(for: secrets[name]) else { return false }
            secrets[name] = bytes
            return true
        }
    }

    public func accounts(of service: String) async throws(SecretError) -> [String] {
        secrets.withLock { secrets in
            secrets.keys.filter { $0.service.utf8.elementsEqual(service.utf8) }.map(\.account)
        }
    }
}

extension InMemorySecretStoreAdapter: CustomStringConvertible, CustomReflectable {
    /// The number of secrets.
    public var description: String { "\(secrets.withLock(\.count)) secrets in memory" }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
