internal import KeelCore

/// A record of one call to a secret store, without keys and secrets.
public struct SecretStoreObservation: Hashable, Sendable {
    /// The operations of a store.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// The call loaded a secret.
        case read
        /// The call saved a secret.
        case save
        /// The call removed a secret.
        case delete
        /// The call listed the accounts of a service.
        case list
    }

    /// The operation.
    public let operation: Operation
    /// The service of the secrets.
    public let service: String
    /// The duration of the call.
    public let duration: Duration
    /// The error code of a failed call; nil if the call returned.
    public let failure: SecretError.Code?
}

/// An adapter that reports reads, changes and listings to an observer, for logs, metrics and traces.
///
/// ```swift
/// let adapter = SecretServiceSecretStoreAdapter().observed { call in
///     timer("secrets.\(call.operation)").record(call.duration)
/// }
/// ```
///
/// Observers see services, but neither secrets nor their keys.
public struct ObservedSecretStoreAdapter<Upstream: SecretStoreAdapter>: SecretStoreAdapter {
    fileprivate let upstream: Upstream
    fileprivate let timeline: Timeline
    fileprivate let observer: @Sendable (SecretStoreObservation) -> Void

    public func capabilities() async -> SecretStoreCapabilities { await upstream.capabilities() }

    public func read(_ name: SecretName) async throws(SecretError) -> [UInt8]? {
        try await observe(.read, name.service) { () async throws(SecretError) in
            try await upstream.read(name)
        }
    }

    public func replace(
        _ name: SecretName,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool {
        let operation: SecretStoreObservation.Operation = bytes == nil ? .delete : .save
        return try await observe(operation, name.service) { () async throws(SecretError) in
            try await upstream.replace(name, with: bytes, expecting: expectation)
        }
    }

    public func accounts(of service: String) async throws(SecretError) -> [String] {
        try await observe(.list, service) { () async throws(SecretError) in
            try await upstream.accounts(of: service)
        }
    }

    private func observe<Value>(
        _ operation: SecretStoreObservation.Operation,
        _ service: String,
        _ call: () async throws(SecretError) -> Value
    ) async throws(SecretError) -> Value {
        let begin = timeline.now
        var failure: SecretError.Code?
        defer {
            observer(
                SecretStoreObservation(
                    operation: operation,
                    service: service,
                    duration: timeline.now - begin,
                    failure: failure
                )
            )
        }
        do throws(SecretError) {
            return try await call()
        } catch {
            failure = error.code
            throw error
        }
    }
}

extension SecretStoreAdapter {
    /// Reports calls to an observer, in the task of the call; see ``ObservedSecretStoreAdapter``.
    public func observed(
        clock: any Clock<Duration> = ContinuousClock(),
        by observer: @escaping @Sendable (SecretStoreObservation) -> Void
    ) -> ObservedSecretStoreAdapter<Self> {
        ObservedSecretStoreAdapter(upstream: self, timeline: Timeline(clock), observer: observer)
    }
}
