/// A type that keeps secrets as bytes.
///
/// Apps use ``SecretStore``; adapters implement this protocol and nothing more: encoding, limits
/// and the checking of names belong to the front. An adapter promises that
///
/// - a change that returned is seen by every later read, from any task;
/// - a change takes effect whole or not at all, and removing what is not there succeeds;
/// - no error of its own holds a secret or a key.
///
/// Run `SecretStoreCheck` from `KeelConformance` against every new adapter.
public protocol SecretStoreAdapter: Sendable {
    /// What the store is and can do at this moment.
    func capabilities() async -> SecretStoreCapabilities

    /// Returns the bytes under a name, nil where there are none.
    func read(_ name: SecretName) async throws(SecretError) -> [UInt8]?

    /// Replaces or removes what is under a name, when it is what is expected.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - bytes: The new bytes, nil to remove what is there.
    ///   - expectation: What has to be there.
    /// - Returns: Whether it was there; nothing was changed where it was not.
    /// - Throws: ``SecretError``.
    func replace(
        _ name: SecretName,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool

    /// Returns the accounts that a service has secrets for, in any order.
    func accounts(of service: String) async throws(SecretError) -> [String]
}
