internal import Synchronization

package struct LogParts: Hashable {
    package let sequence: Int64
    /// The size of all changes so far in bytes, including removed ones.
    package let total: Int64
    /// The highest sequence that the log has trimmed; readers receive only later changes.
    ///
    /// Its row stays in the log for its mark.
    package var trimmed: Int64
    /// The sequence up to which the log has only the last change of each document.
    package var compacted: Int64
    /// The size of the log between the two in bytes.
    package var kept: Int64

    package init(sequence: Int64, total: Int64, trimmed: Int64, compacted: Int64, kept: Int64) {
        self.sequence = sequence
        self.total = total
        self.trimmed = trimmed
        self.compacted = compacted
        self.kept = kept
    }
}

package struct AgingChange {
    package let sequence: Int64
    package let mark: Int64
    package let isRemoval: Bool
    /// In bytes.
    package let idLength: Int64
    /// The size of all changes up to this one in bytes; zero if it is unknown.
    package let total: Int64
    /// Whether the log has a later change of the document.
    package let isSuperseded: Bool

    package init(
        sequence: Int64,
        mark: Int64,
        isRemoval: Bool,
        idLength: Int64,
        total: Int64,
        isSuperseded: Bool
    ) {
        self.sequence = sequence
        self.mark = mark
        self.isRemoval = isRemoval
        self.idLength = idLength
        self.total = total
        self.isSuperseded = isSuperseded
    }

    fileprivate var size: Int64 { LogTrimming.size(idLength: idLength, isRemoval: isRemoval) }
}

package protocol TrimmedLog {
    func lastMark(upTo sequence: Int64) throws -> Int64?

    /// Reads the changes after a sequence in the order of their sequences, until `take` returns false.
    ///
    /// Only if `isCompared` is true, ``AgingChange/isSuperseded`` is found out.
    func eachAging(
        after sequence: Int64,
        isCompared: Bool,
        _ take: (AgingChange) throws -> Bool
    ) throws

    func remove(_ changes: [AgingChange]) throws

    func removeChanges(before sequence: Int64) throws

    func write(_ parts: LogParts) throws
}

/// Keeps the change log within its limits, one step per write transaction.
///
/// After ``LogParts/compacted``, the log has every change. Before that, it has only the last change of each document,
/// which may be its removal. Up to ``LogParts/trimmed`` there is nothing, and cursors expire.
///
/// A document that changes again keeps its former last change until that is dropped.
package struct LogTrimming {
    private static let mostDropped = 10_000
    private static let mostCompacted = 2_000

    private let log: any TrimmedLog
    private let retention: LogRetention
    private let oldest: (kept: Int64, dropped: Int64)
    private var parts: LogParts

    package init(
        _ log: any TrimmedLog,
        _ parts: LogParts,
        keeping retention: LogRetention,
        at age: StoreAge
    ) throws {
        self.log = log
        self.parts = parts
        self.retention = retention
        let sequences = try age.sequences(olderThan: [retention.age, retention.horizon])
        oldest = (sequences[0] ?? 0, sequences[1] ?? 0)
    }

    /// Runs one step, keeping the log after the sequence that readers need; returns whether nothing is left to do.
    package mutating func step(keepingAfter held: Int64) throws -> Bool {
        let before = parts
        let isCompacted = try compact()
        let isDropped = try drop(keepingAfter: held)
        if parts != before { try log.write(parts) }
        return isCompacted && isDropped
    }

    /// Returns the approximate size of a change in bytes: its row with the id, and for a removal its entry in the index
    /// of removals.
    package static func size(idLength: Int64, isRemoval: Bool) -> Int64 {
        isRemoval ? 60 + 2 * idLength : 40 + idLength
    }

    // MARK: Compacting

    private mutating func compact() throws -> Bool {
        let surplus = parts.total - Int64(max(0, retention.bytes))
        var period = try log.lastMark(upTo: parts.compacted).map(LogPoint.period)
        var (compacted, kept, count) = (parts.compacted, parts.kept, 0)
        var superseded: [AgingChange] = []
        var isDone = true
        var last: AgingChange?
        try log.eachAging(after: compacted, isCompared: true) { change in
            if let last {
                // The first and the last change of a period stay, because they identify cursors within the period.
                let own = LogPoint.period(of: last.mark)
                let isBoundary = own != period || own != LogPoint.period(of: change.mark)
                if last.isSuperseded, !isBoundary {
                    superseded.append(last)
                } else {
                    kept += last.size
                }
                (period, compacted) = (own, last.sequence)
            }
            last = nil
            let isBeyondBytes = surplus > 0 && change.total <= surplus
            // The last change stays, because the next sequence is derived from it.
            guard change.sequence < parts.sequence, change.sequence <= oldest.kept || isBeyondBytes
            else { return false }
            isDone = count < Self.mostCompacted
            (last, count) = (change, count + 1)
            return isDone
        }
        (parts.compacted, parts.kept) = (compacted, kept)
        if !superseded.isEmpty { try log.remove(superseded) }
        return isDone
    }

    // MARK: Dropping

    private mutating func drop(keepingAfter held: Int64) throws -> Bool {
        let most = Int64(max(0, retention.tombstoneBytes))
        let end = min(held, parts.sequence - 1)
        var (trimmed, kept, count) = (parts.trimmed, parts.kept, 0)
        var isDone = true
        try log.eachAging(after: trimmed, isCompared: false) { change in
            let isCompacted = change.sequence <= parts.compacted
            guard change.sequence <= end,
                change.sequence <= oldest.dropped || (isCompacted && kept > most)
            else { return false }
            isDone = count < Self.mostDropped
            guard isDone else { return false }
            if isCompacted { kept -= change.size }
            (trimmed, count) = (change.sequence, count + 1)
            return true
        }
        guard trimmed > parts.trimmed else { return true }
        (parts.trimmed, parts.kept) = (trimmed, max(0, kept))
        parts.compacted = max(parts.compacted, trimmed)
        // The row itself stays, because its mark identifies a cursor at this place.
        try log.removeChanges(before: trimmed)
        return isDone
    }
}

package final class TrimmingPace: Sendable {
    private static let most = 1_024

    private let changes = Atomic(0)
    /// The number of changes in the current period of marks (``LogPoint``); each opening starts a period.
    private let period = Atomic(TrimmingPace.most)

    package init() {}

    package var beginsPeriod: Bool { period.load(ordering: .relaxed) >= Self.most }

    package func finished(_ count: Int) {
        let present = beginsPeriod ? 0 : period.load(ordering: .relaxed)
        period.store(present + count, ordering: .relaxed)
    }

    package func goOn() { changes.store(.max / 2, ordering: .relaxed) }

    package func isDue(after count: Int, keeping retention: LogRetention) -> Bool {
        guard count > 0 else { return false }
        let total = changes.wrappingAdd(count, ordering: .relaxed).newValue
        guard total >= Self.threshold(retention) else { return false }
        changes.store(0, ordering: .relaxed)
        return true
    }

    package func willBeDue(after count: Int, keeping retention: LogRetention) -> Bool {
        changes.load(ordering: .relaxed) + count >= Self.threshold(retention)
    }

    private static func threshold(_ retention: LogRetention) -> Int {
        min(max(1, retention.bytes / 1_024), most)
    }
}
