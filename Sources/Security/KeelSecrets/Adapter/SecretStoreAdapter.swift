/// A type that stores secrets as bytes.
///
/// Apps use ``SecretStore``, which also validates names and limits sizes. An adapter promises that
///
/// - a completed change is visible to every later read, from any task;
/// - a change is atomic, and removing a missing secret succeeds;
/// - its own errors contain no secret or key.
///
/// Run `SecretStoreCheck` from `KeelConformance` against every new adapter.
public protocol SecretStoreAdapter: Sendable {
    /// Returns the kind of the store and its current capabilities.
    func capabilities() async -> SecretStoreCapabilities

    /// Returns the bytes stored under a name, or nil if there are none.
    func read(_ name: SecretName) async throws(SecretError) -> [UInt8]?

    /// Replaces or removes the secret under a name if the stored one meets the expectation.
    ///
    /// Nil bytes remove the secret.
    ///
    /// - Returns: Whether the expectation was met; otherwise nothing changed.
    /// - Throws: ``SecretError``.
    func replace(
        _ name: SecretName,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool

    /// Returns the accounts of all secrets of a service, in any order.
    func accounts(of service: String) async throws(SecretError) -> [String]
}

/// A precondition on the stored secret for a change.
public enum SecretExpectation: Hashable, Sendable {
    /// The change is unconditional.
    case anything
    /// There must be no secret.
    case absent
    /// The secret must have these bytes.
    case bytes([UInt8])

    /// Returns whether a stored value, or nil if there is none, meets the expectation.
    public func holds(for stored: [UInt8]?) -> Bool {
        switch self {
        case .anything: true
        case .absent: stored == nil
        case .bytes(let bytes): stored == bytes
        }
    }
}

extension SecretExpectation: CustomStringConvertible, CustomReflectable {
    /// The name of the case, without the secret bytes.
    public var description: String {
        switch self {
        case .anything: "anything"
        case .absent: "absent"
        case .bytes: "bytes"
        }
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
