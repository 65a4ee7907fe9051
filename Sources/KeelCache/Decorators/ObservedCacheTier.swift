internal import KeelCore

/// What one call of a tier did, without keys and values.
public struct CacheTierObservation: Hashable, Sendable {
    /// The calls of a tier.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// A record was asked for.
        case read
        /// Records were handed over.
        case write
        /// Records were to be forgotten.
        case remove
        /// What was written was to be made lasting.
        case flush
        /// A file for a large value was begun.
        case makeFile
        /// Counts were asked for.
        case usage
    }

    /// What was called.
    public let operation: Operation
    /// How long it took.
    public let duration: Duration
    /// How many records were found or handed over.
    public let recordCount: Int
    /// How many bytes their values have.
    public let byteCount: Int
    /// What failed, nil for a call that succeeded.
    public let failure: CacheError.Code?
}

/// A tier that tells of each call, for logs, metrics and traces of whatever library.
///
/// ```swift
/// let tier = disk.observed { call in
///     timer("cache.\(call.operation)").record(call.duration)
/// }
/// ```
///
/// Place it directly around the tier that does the work, inside of others.
public struct ObservedCacheTier<Upstream: CacheTier>: CacheTier {
    private let upstream: Upstream
    private let timeline: Timeline
    private let observer: @Sendable (CacheTierObservation) -> Void

    /// Creates the decorator; `tier.observed(by:)` is the usual way.
    ///
    /// - Parameters:
    ///   - upstream: The tier that does the work.
    ///   - clock: What durations are measured on.
    ///   - observer: Is told after each call, in the task of the call.
    public init(
        _ upstream: Upstream,
        clock: any Clock<Duration> = ContinuousClock(),
        observer: @escaping @Sendable (CacheTierObservation) -> Void
    ) {
        self.upstream = upstream
        timeline = Timeline(clock)
        self.observer = observer
    }

    public func read(_ key: [UInt8]) async throws(CacheError) -> CacheRecord? {
        try await observe(.read) { () async throws(CacheError) in
            let record = try await upstream.read(key)
            return (record, record == nil ? 0 : 1, record?.body.count ?? 0)
        }
    }

    public func write(_ records: [CacheRecord]) async throws(CacheError) {
        try await observe(.write) { () async throws(CacheError) in
            try await upstream.write(records)
            return ((), records.count, records.reduce(0) { $0 + $1.body.count })
        }
    }

    public func remove(_ selection: CacheSelection) async throws(CacheError) {
        try await observe(.remove) { () async throws(CacheError) in
            try await upstream.remove(selection)
            return ((), 0, 0)
        }
    }

    public func flush() async throws(CacheError) {
        try await observe(.flush) { () async throws(CacheError) in
            try await upstream.flush()
            return ((), 0, 0)
        }
    }

    public func makeFile() async throws(CacheError) -> (any CacheFileWriter)? {
        try await observe(.makeFile) { () async throws(CacheError) in
            (try await upstream.makeFile(), 0, 0)
        }
    }

    public func usage() async throws(CacheError) -> CacheTierUsage {
        try await observe(.usage) { () async throws(CacheError) in
            let usage = try await upstream.usage()
            return (usage, usage.entryCount, usage.byteCount)
        }
    }

    private func observe<Value>(
        _ operation: CacheTierObservation.Operation,
        _ call: () async throws(CacheError) -> (Value, records: Int, bytes: Int)
    ) async throws(CacheError) -> Value {
        let begin = timeline.now
        do throws(CacheError) {
            let (value, records, bytes) = try await call()
            tell(operation, since: begin, records, bytes, nil)
            return value
        } catch {
            tell(operation, since: begin, 0, 0, error.code)
            throw error
        }
    }

    private func tell(
        _ operation: CacheTierObservation.Operation,
        since begin: Duration,
        _ records: Int,
        _ bytes: Int,
        _ failure: CacheError.Code?
    ) {
        observer(
            CacheTierObservation(
                operation: operation,
                duration: timeline.now - begin,
                recordCount: records,
                byteCount: bytes,
                failure: failure
            )
        )
    }
}

extension CacheTier {
    /// Tells of each call; see ``ObservedCacheTier``.
    ///
    /// - Parameters:
    ///   - clock: What durations are measured on.
    ///   - observer: Is told after each call, in the task of the call.
    /// - Returns: The tier, observed.
    public func observed(
        clock: any Clock<Duration> = ContinuousClock(),
        by observer: @escaping @Sendable (CacheTierObservation) -> Void
    ) -> ObservedCacheTier<Self> {
        ObservedCacheTier(self, clock: clock, observer: observer)
    }
}
