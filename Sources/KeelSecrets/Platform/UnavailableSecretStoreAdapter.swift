/// An adapter that fails every call with one error.
///
/// It stands where a store is expected and there is none, so that the calls say why.
public struct UnavailableSecretStoreAdapter: SecretStoreAdapter {
    private let error: SecretError

    /// Creates an adapter.
    ///
    /// - Parameter error: What every call throws.
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
