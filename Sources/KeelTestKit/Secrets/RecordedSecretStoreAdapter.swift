public import KeelSecrets
internal import Synchronization

/// An adapter that remembers the calls it gets and hands each of them on.
///
/// ```swift
/// let recorded = InMemorySecretStoreAdapter().recorded()
/// let secrets = try SecretStore(recorded, service: "app")
/// try await secrets.delete(forKey: "token")
/// #expect(recorded.callCount(of: .replace) == 1)
/// ```
///
/// A call is remembered, with its secret, before it is handed on, whatever becomes of it. Copies
/// share one memory.
public struct RecordedSecretStoreAdapter<Upstream: SecretStoreAdapter>: SecretStoreAdapter {
    private final class Memory: Sendable {
        let calls = Mutex<[SecretStoreCall]>([])
    }

    private let upstream: Upstream
    private let memory = Memory()

    /// Creates the decorator; `adapter.recorded()` is the usual way.
    public init(_ upstream: Upstream) { self.upstream = upstream }

    // MARK: What was called

    /// All calls, in the order in which they came.
    public var calls: [SecretStoreCall] { memory.calls.withLock { $0 } }

    /// How many calls there were.
    public var callCount: Int { memory.calls.withLock { $0.count } }

    /// How many calls of a kind there were.
    public func callCount(of kind: SecretStoreCall.Kind) -> Int {
        memory.calls.withLock { calls in calls.count { $0.kind == kind } }
    }

    /// Forgets the calls so far.
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
    /// Remembers the calls; see ``RecordedSecretStoreAdapter``.
    public func recorded() -> RecordedSecretStoreAdapter<Self> { RecordedSecretStoreAdapter(self) }
}
