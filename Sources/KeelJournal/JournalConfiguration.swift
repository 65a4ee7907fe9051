public import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The limits of a journal, and how it keeps what it was given.
public struct JournalConfiguration: Sendable {
    /// What an append survives once it has returned.
    public enum Durability: Sendable, Hashable {
        /// The end of the process, however it ends: the system has the bytes.
        case process
        /// A power failure too: the disk has the bytes. Threads that append at the same time share
        /// the wait.
        case power
    }

    /// What happens to a record for which there is no room within the bounds.
    public enum Overflow: Sendable, Hashable {
        /// It is kept, and the oldest segment goes, whether it was delivered or not. What a consumer
        /// loses is counted for it.
        case dropOldest
        /// It is refused with ``JournalError/Code/full``.
        case refuse
    }

    /// The most bytes of all segments together, at least 64 KiB.
    ///
    /// Room is made by whole segments, of which there are at least eight within the bounds.
    public var byteLimit = 64 << 20
    /// The most records; nil is no limit.
    public var recordLimit: Int?
    /// How old a record may become, in seconds, before it counts as lost; nil is no limit.
    public var ageLimit: Duration?
    /// The most bytes of one record, at most 16 MiB and never more than half of ``byteLimit``.
    public var recordByteLimit = 1 << 20
    /// What happens when a bound is reached.
    public var overflow = Overflow.dropOldest
    /// What an append survives.
    public var durability = Durability.process
    /// What encrypts records; nil leaves them readable.
    public var sealing: (any ByteSealing)?
    /// The time, in microseconds since 1970.
    public var now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000_000) }

    /// Creates the usual limits: 64 MiB, records of 1 MiB, the oldest go first.
    public init() {}

    /// A segment's share of the bounds.
    var segmentByteLimit: Int { max(8 << 10, byteLimit / 8) }
    var longestRecord: Int { min(recordByteLimit, byteLimit / 2) }
    var segmentRecordLimit: Int { recordLimit.map { max(1, $0 / 8) } ?? .max }

    func check() throws(JournalError) {
        guard byteLimit >= 64 << 10 else {
            throw JournalError(.invalidArgument, "byteLimit is at least 65536")
        }
        guard (recordLimit ?? 1) >= 1 else {
            throw JournalError(.invalidArgument, "recordLimit is at least 1")
        }
        guard (1...16 << 20).contains(recordByteLimit) else {
            throw JournalError(.invalidArgument, "recordByteLimit is 1 to 16777216")
        }
    }
}
