public import KeelSecrets

/// A secret store adapter that records its calls and forwards them.
///
/// ```swift
/// let recorded = InMemorySecretStoreAdapter().recorded()
/// let secrets = try SecretStore(recorded, service: "app")
/// try await secrets.delete(forKey: "token")
/// #expect(recorded.callCount(of: .replace) == 1)
/// ```
///
/// A call is recorded first, including its secret, whatever the outcome. Copies share one record.
public struct RecordedSecretStoreAdapter<Upstream: SecretStoreAdapter>: SecretStoreAdapter {
    fileprivate let upstream: Upstream
    private let memory = CallMemory<SecretStoreCall>()

    // MARK: Recorded calls

    /// All calls, in order.
    public var calls: [SecretStoreCall] { memory.all }

    /// The number of calls.
    public var callCount: Int { memory.all.count }

    /// Returns the number of calls of a kind.
    public func callCount(of kind: SecretStoreCall.Kind) -> Int {
        memory.all.count { $0.kind == kind }
    }

    /// Forgets the calls so far.
    public func forget() { memory.forget() }

    // MARK: Adapter

    public func capabilities() async -> SecretStoreCapabilities { await upstream.capabilities() }

    public func read(_ name: SecretName) async throws(SecretError) -> [UInt8]? {
        memory.add(.read(name))
        return try await upstream.read(name)
    }

    public func replace(
        _ name: SecretName,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool {
        memory.add(.replace(name, with: bytes, expecting: expectation))
        return try await upstream.replace(name, with: bytes, expecting: expectation)
    }

    public func accounts(of service: String) async throws(SecretError) -> [String] {
        memory.add(.accounts(of: service))
        return try await upstream.accounts(of: service)
    }
}

extension SecretStoreAdapter {
    /// Records the calls; see ``RecordedSecretStoreAdapter``.
    public func recorded() -> RecordedSecretStoreAdapter<Self> {
        RecordedSecretStoreAdapter(upstream: self)
    }
}
