public import KeelSecrets
internal import Synchronization

/// A secret store adapter that records its calls and forwards them.
///
/// ```swift
/// let recorded = InMemorySecretStoreAdapter().recorded()
/// let secrets = try SecretStore(recorded, service: "app")
/// try await secrets.delete(forKey: "token")
/// #expect(recorded.callCount(of: .replace) == 1)
/// ```
///
/// A call is recorded, including its secret, before it is forwarded, whatever the outcome. Copies share one record.
public struct RecordedSecretStoreAdapter<Upstream: SecretStoreAdapter>: SecretStoreAdapter {
    private final class Memory: Sendable {
        let calls = Mutex<[SecretStoreCall]>([])
    }

    private let upstream: Upstream
    private let memory = Memory()

    /// Creates the decorator; prefer `adapter.recorded()`.
    public init(_ upstream: Upstream) { self.upstream = upstream }

    // MARK: Recorded calls

    /// All calls, in order.
    public var calls: [SecretStoreCall] { memory.calls.withLock { $0 } }

    /// The number of calls.
    public var callCount: Int { memory.calls.withLock { $0.count } }

    /// Returns the number of calls of a kind.
    public func callCount(of kind: SecretStoreCall.Kind) -> Int {
        memory.calls.withLock { calls in calls.count { $0.kind == kind } }
    }

    /// Discards the recorded calls.
    public func forget() { memory.calls.withLock { $0 = [] } }

    private func remember(_ call: SecretStoreCall) { memory.calls.withLock { $0.append(call) } }

    // MARK: Adapter

    public func capabilities() async -> SecretStoreCapabilities { await upstream.capabilities() }

    public func read(_ name: SecretName) async throws(SecretError) -> [UInt8]? {
        remember(.read(name))
        return try await upstream.read(name)
    }

    public func replace(
        _ name: SecretName,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool {
        remember(.replace(name, with: bytes, expecting: expectation))
        return try await upstream.replace(name, with: bytes, expecting: expectation)
    }

    public func accounts(of service: String) async throws(SecretError) -> [String] {
        remember(.accounts(of: service))
        return try await upstream.accounts(of: service)
    }
}

extension SecretStoreAdapter {
    /// Records the calls; see ``RecordedSecretStoreAdapter``.
    public func recorded() -> RecordedSecretStoreAdapter<Self> { RecordedSecretStoreAdapter(self) }
}
