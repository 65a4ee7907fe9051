public import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The limits and durability of a journal.
public struct JournalConfiguration: Sendable {
    /// The failures that an appended record survives.
    public enum Durability: Sendable, Hashable {
        /// Any end of the process: the system has the bytes.
        case process
        /// A power failure as well: the bytes are on disk. Concurrent appends share the wait.
        case power
    }

    /// The treatment of a record that exceeds the bounds.
    public enum Overflow: Sendable, Hashable {
        /// The record is appended, and the oldest segments are removed, delivered or not. Each consumer's lost records
        /// are counted.
        case dropOldest
        /// The record is refused with ``JournalError/Code/full``.
        case refuse
    }

    /// The maximum size of all segments in bytes, at least 64 KiB.
    ///
    /// Space is freed by whole segments, each of at most an eighth of the bounds unless its first record is larger. If
    /// several processes append, ``JournalConfiguration/Overflow/dropOldest`` keeps the segments that the others are
    /// writing, even beyond the bounds.
    public var byteLimit = 64 << 20
    /// The maximum number of records, at least 1; nil for no limit.
    public var recordLimit: Int?
    /// The age at which a record expires and counts as lost; nil for no limit.
    ///
    /// A record can expire up to two hours later, and later in a journal that is rarely used: a clock that is years
    /// ahead for a while expires nothing.
    public var ageLimit: Duration?
    /// The maximum size of a record in bytes, at most 16 MiB and half of ``byteLimit``.
    public var recordByteLimit = 1 << 20
    /// The treatment of a record when a bound is reached.
    public var overflow = Overflow.dropOldest
    /// The failures that an appended record survives.
    public var durability = Durability.process
    /// Encrypts records; nil stores them readable.
    ///
    /// A record whose key was destroyed (`ByteSealing.isLost(_:)`) counts as corrupt and does not hold up other
    /// records. While a key cannot be used, for example because the device is locked, records wait.
    public var sealing: (any ByteSealing)?
    /// Returns the time in microseconds since 1970.
    public var now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000_000) }

    /// Creates the default limits: 64 MiB, records of 1 MiB, the oldest are dropped first.
    public init() {}

    var segmentByteLimit: Int { max(8 << 10, byteLimit / 8) }
    var longestRecord: Int { min(recordByteLimit, byteLimit / 2) }
    var segmentRecordLimit: Int { recordLimit.map { max(1, $0 / 8) } ?? .max }

    func check() throws(JournalError) {
        guard byteLimit >= 64 << 10 else {
            throw JournalError(.invalidArgument, "byteLimit must be at least 65536")
        }
        guard (recordLimit ?? 1) >= 1 else {
            throw JournalError(.invalidArgument, "recordLimit must be at least 1")
        }
        guard (1...16 << 20).contains(recordByteLimit) else {
            throw JournalError(.invalidArgument, "recordByteLimit must be 1 to 16777216")
        }
    }
}
