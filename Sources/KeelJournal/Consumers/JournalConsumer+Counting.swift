internal import KeelCore
internal import Synchronization

/// What has become of the records of a journal for one consumer.
public struct ConsumerTally: Hashable, Sendable {
    /// How many are not settled.
    public var pending = 0
    /// How many the bounds of the journal have cost since the consumer exists, those that became
    /// too old included.
    public var lost = 0
    /// How many were damaged.
    public var damaged = 0

    /// Creates counts of nothing.
    public init() {}
}

extension JournalConsumer {
    /// Counts the records, at one moment.
    ///
    /// Every record that was appended since the consumer exists is settled, or is in one of these
    /// counts. It looks at all that are not settled.
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

    /// Counts what the consumer will never get, without looking at what waits.
    ///
    /// - Returns: The counts of ``tally()``, but for ``ConsumerTally/pending``, which is zero.
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

    /// How many records are not settled.
    ///
    /// It looks at all of them.
    ///
    /// - Throws: ``JournalError``.
    public func pendingCount() throws(JournalError) -> Int { try tally().pending }

    /// How many records the consumer has lost to the bounds of the journal since it exists, those
    /// that became too old included.
    ///
    /// - Throws: ``JournalError``.
    public func lostCount() throws(JournalError) -> Int { try tally().lost }
}

extension Journal {
    /// Counts the records for a consumer; under the folder's lock.
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

    /// Counts what a consumer will never get; under the folder's lock.
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
