public import KeelSecrets

/// A secret store adapter whose calls fail on demand.
///
/// ```swift
/// let locked = InMemorySecretStoreAdapter().failing { _ in .fail(.locked) }
/// let flaky = InMemorySecretStoreAdapter().failing([.loseReply(), nil, .delay(.seconds(2))])
/// ```
///
/// Copies share the call count and the position in the list.
public struct FaultInjectingSecretStoreAdapter<Upstream: SecretStoreAdapter>: SecretStoreAdapter {
    fileprivate let upstream: Upstream
    fileprivate let schedule: CallFaults<SecretStoreCall, SecretStoreFault>

    /// The number of calls.
    public var callCount: Int { schedule.callCount }

    // MARK: Adapter

    public func capabilities() async -> SecretStoreCapabilities { await upstream.capabilities() }

    public func read(_ name: SecretName) async throws(SecretError) -> [UInt8]? {
        let loss = try await beginning(.read(name))
        let bytes = try await upstream.read(name)
        if let loss { throw loss }
        return bytes
    }

    public func replace(
        _ name: SecretName,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool {
        let loss = try await beginning(.replace(name, with: bytes, expecting: expectation))
        let isDone = try await upstream.replace(name, with: bytes, expecting: expectation)
        if let loss { throw loss }
        return isDone
    }

    public func accounts(of service: String) async throws(SecretError) -> [String] {
        let loss = try await beginning(.accounts(of: service))
        let accounts = try await upstream.accounts(of: service)
        if let loss { throw loss }
        return accounts
    }

    /// Applies the part of a fault that precedes the call; returns the error to throw in place of the reply.
    private func beginning(_ call: SecretStoreCall) async throws(SecretError) -> SecretError? {
        let fault = try await schedule.begin(call) {
            SecretError(.cancelled, "The call was canceled.", cause: $0)
        }
        switch fault {
        case .failure(let error): throw error
        case .lostReply(let error): return error
        default: return nil
        }
    }
}

extension SecretStoreAdapter {
    /// Makes calls fail as a closure says; see ``FaultInjectingSecretStoreAdapter``.
    ///
    /// It returns the fault of each call; nil lets the call through. Delays are measured on `clock`.
    public func failing(
        clock: any Clock<Duration> = ContinuousClock(),
        _ fault: @escaping @Sendable (SecretStoreCall) -> SecretStoreFault?
    ) -> FaultInjectingSecretStoreAdapter<Self> {
        FaultInjectingSecretStoreAdapter(upstream: self, schedule: CallFaults(clock, fault: fault))
    }

    /// Makes the first calls fail as a list says; see ``FaultInjectingSecretStoreAdapter``.
    ///
    /// In the list, nil lets a call through, as does its end. Delays are measured on `clock`.
    public func failing(
        _ faults: [SecretStoreFault?],
        clock: any Clock<Duration> = ContinuousClock()
    ) -> FaultInjectingSecretStoreAdapter<Self> {
        FaultInjectingSecretStoreAdapter(
            upstream: self,
            schedule: CallFaults(clock, faults: faults)
        )
    }
}
