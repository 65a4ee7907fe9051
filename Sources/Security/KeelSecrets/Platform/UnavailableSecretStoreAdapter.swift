/// An adapter that fails every call with the same error.
///
/// Use it where a store is required but none is available, so that each call explains why.
public struct UnavailableSecretStoreAdapter: SecretStoreAdapter {
    private let error: SecretError

    /// Creates an adapter whose calls all throw the given error.
    public init(_ error: SecretError) { self.error = error }

    public func capabilities() async -> SecretStoreCapabilities {
        SecretStoreCapabilities(kind: .none, features: [], problem: error.code)
    }

    public func read(_ name: SecretName) async throws(SecretError) -> [UInt8]? { throw error }

    public func replace(
        _ name: SecretName,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool {
        throw error
    }

    public func accounts(of service: String) async throws(SecretError) -> [String] { throw error }
}
