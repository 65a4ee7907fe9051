internal import KeelCore

/// One call of a tier, without keys and values.
public struct CacheTierObservation: Hashable, Sendable {
    /// The operations of a tier.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// A read of a record.
        case read
        /// A write of records.
        case write
        /// A removal of records.
        case remove
        /// A flush of earlier writes.
        case flush
        /// The start of a file for a large value.
        case makeFile
        /// A query of the tier's usage.
        case usage
    }

    /// The operation.
    public let operation: Operation
    /// The duration of the call.
    public let duration: Duration
    /// The number of records found or written; for `usage`, those in the tier.
    public let recordCount: Int
    /// The number of bytes in their values; for `usage`, those that the tier uses.
    public let byteCount: Int
    /// The code of the failure, or nil if the call succeeded.
    public let failure: CacheError.Code?
}

/// A tier that reports each call to an observer, for logs, metrics and traces.
///
/// ```swift
/// let tier = disk.observed { call in
///     timer("cache.\(call.operation)").record(call.duration)
/// }
/// ```
///
/// Place it directly around the tier itself, inside other decorators.
public struct ObservedCacheTier<Upstream: CacheTier>: CacheTier {
    fileprivate let upstream: Upstream
    fileprivate let timeline: Timeline
    fileprivate let observer: @Sendable (CacheTierObservation) -> Void

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
    /// Reports each call to an observer, in the task of the call.
    public func observed(
        clock: any Clock<Duration> = ContinuousClock(),
        by observer: @escaping @Sendable (CacheTierObservation) -> Void
    ) -> ObservedCacheTier<Self> {
        ObservedCacheTier(upstream: self, timeline: Timeline(clock), observer: observer)
    }
}
