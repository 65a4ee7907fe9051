internal import KeelCore

/// What one call of a store of secrets did, without keys and secrets.
public struct SecretStoreObservation: Hashable, Sendable {
    /// The calls of a store.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// A secret was asked for.
        case read
        /// A secret was to be saved.
        case save
        /// A secret was to be removed.
        case delete
        /// The accounts of a service were asked for.
        case list
    }

    /// What was called.
    public let operation: Operation
    /// The service whose secrets it is about.
    public let service: String
    /// How long it took.
    public let duration: Duration
    /// What failed, nil for a call that succeeded.
    public let failure: SecretError.Code?
}

/// An adapter that tells of each call, for logs, metrics and traces of whatever library.
///
/// ```swift
/// let adapter = SecretServiceSecretStoreAdapter().observed { call in
///     timer("secrets.\(call.operation)").record(call.duration)
/// }
/// ```
///
/// Observers learn neither secrets nor the keys of secrets, only services.
public struct ObservedSecretStoreAdapter<Upstream: SecretStoreAdapter>: SecretStoreAdapter {
    private let upstream: Upstream
    private let timeline: Timeline
    private let observer: @Sendable (SecretStoreObservation) -> Void

    /// Creates the decorator; `adapter.observed(by:)` is the usual way.
    ///
    /// - Parameters:
    ///   - upstream: The adapter that does the work.
    ///   - clock: What durations are measured on.
    ///   - observer: Is told after each call, in the task of the call.
    public init(
        _ upstream: Upstream,
        clock: any Clock<Duration> = ContinuousClock(),
        observer: @escaping @Sendable (SecretStoreObservation) -> Void
    ) {
        self.upstream = upstream
        timeline = Timeline(clock)
        self.observer = observer
    }

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
    /// Tells of each call; see ``ObservedSecretStoreAdapter``.
    ///
    /// - Parameters:
    ///   - clock: What durations are measured on.
    ///   - observer: Is told after each call, in the task of the call.
    /// - Returns: The adapter, observed.
    public func observed(
        clock: any Clock<Duration> = ContinuousClock(),
        by observer: @escaping @Sendable (SecretStoreObservation) -> Void
    ) -> ObservedSecretStoreAdapter<Self> {
        ObservedSecretStoreAdapter(self, clock: clock, observer: observer)
    }
}
