internal import KeelCore
internal import Synchronization

/// The state of a journal's records for one consumer.
public struct ConsumerTally: Hashable, Sendable {
    /// The number of unsettled records.
    public var pending = 0
    /// The number of records removed by the bounds of the journal since the consumer was created,
    /// including expired ones.
    public var lost = 0
    /// The number of corrupt records.
    public var damaged = 0

    /// Creates counts of zero.
    public init() {}
}

extension JournalConsumer {
    /// Counts the records atomically, by scanning the unsettled ones.
    ///
    /// Every record appended since the consumer was created is either settled or counted here.
    ///
    /// - Returns: The counts.
    /// - Throws: ``JournalError``.
    public func tally() throws(JournalError) -> ConsumerTally {
        do throws(FileSystemError) {
            return try state.withLock { state throws(FileSystemError) in
                try journal.folder.locked { () throws(FileSystemError) in
                    try journal.tally(of: state.cursor, as: name)
                }
            }
        } catch {
            throw JournalError(error, "Counting the records")
        }
    }

    /// Counts the records that the consumer will never receive, without scanning the pending ones.
    ///
    /// - Returns: The counts of ``tally()``, with ``ConsumerTally/pending`` as zero.
    /// - Throws: ``JournalError``.
    public func losses() throws(JournalError) -> ConsumerTally {
        do throws(FileSystemError) {
            return try state.withLock { state throws(FileSystemError) in
                try journal.folder.locked { () throws(FileSystemError) in
                    let numbers = Set(try journal.folder.segments())
                    return try journal.losses(of: state.cursor, as: name, numbers)
                }
            }
        } catch {
            throw JournalError(error, "Counting what was lost")
        }
    }

    /// Returns the number of unsettled records, by scanning them.
    ///
    /// - Throws: ``JournalError``.
    public func pendingCount() throws(JournalError) -> Int { try tally().pending }

    /// Returns the number of records removed by the bounds of the journal since the consumer was
    /// created, including expired ones.
    ///
    /// - Throws: ``JournalError``.
    public func lostCount() throws(JournalError) -> Int { try tally().lost }
}

extension Journal {
    /// Counts the records for a consumer. The caller holds the folder's lock.
    func tally(of cursor: CursorFile, as name: String) throws(FileSystemError) -> ConsumerTally {
        let numbers = try folder.segments()
        var tally = try losses(of: cursor, as: name, Set(numbers))
        for number in numbers {
            let progress = cursor.segments[number]
            let known = try SegmentSurvey.unsettled(number, progress, in: folder)
            if let known {
                tally.pending += known
            } else {
                tally.pending += try SegmentSurvey(number, in: folder)?.recordCount ?? 0
            }
        }
        return tally
    }

    /// Counts what a consumer will never receive. The caller holds the folder's lock.
    func losses(
        of cursor: CursorFile,
        as name: String,
        _ numbers: Set<UInt64>
    ) throws(FileSystemError) -> ConsumerTally {
        var tally = ConsumerTally()
        tally.lost = try LostRecords(of: name, in: folder).count() + cursor.expired
        tally.damaged = cursor.damaged
        for (number, progress) in cursor.segments where numbers.contains(number) {
            tally.lost += progress.newlyExpired
            tally.damaged += progress.newlyDamaged
        }
        return tally
    }
}
