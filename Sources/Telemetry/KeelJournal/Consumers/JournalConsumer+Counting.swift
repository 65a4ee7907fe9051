internal import KeelCore
internal import Synchronization

/// The counts of a journal's records for one consumer.
public struct ConsumerCounts: Hashable, Sendable {
    /// The number of unacknowledged records, including corrupt and expired ones that the consumer has not met yet.
    public var pending = 0
    /// The number of records that expired, or were removed by the journal's bounds, before they were acknowledged.
    public var lost = 0
    /// The number of records that were skipped because they are corrupt or their key was destroyed.
    public var corrupt = 0

    /// Creates counts of zero.
    public init() {}
}

extension JournalConsumer {
    /// Counts the records, by scanning the unacknowledged ones.
    ///
    /// Every record appended since the consumer was created is either acknowledged or in exactly one count, unless it
    /// was erased. A record appended during the call can be missing.
    ///
    /// - Throws: ``JournalError`` if the journal cannot be read.
    public func counts() throws(JournalError) -> ConsumerCounts {
        try JournalError.mapped("Counting the records") { () throws(FileSystemError) in
            try state.withLock { state throws(FileSystemError) in
                try journal.folder.locked { () throws(FileSystemError) in
                    try journal.counts(of: state.cursor, as: name)
                }
            }
        }
    }

    /// Counts the records that the consumer will never receive, without a scan.
    ///
    /// - Returns: The counts of ``counts()``, with ``ConsumerCounts/pending`` as zero.
    /// - Throws: ``JournalError`` if the journal cannot be read.
    public func losses() throws(JournalError) -> ConsumerCounts {
        try JournalError.mapped("Counting lost records") { () throws(FileSystemError) in
            try state.withLock { state throws(FileSystemError) in
                try journal.folder.locked { () throws(FileSystemError) in
                    let numbers = Set(try journal.folder.segments())
                    return try journal.losses(of: state.cursor, as: name, numbers)
                }
            }
        }
    }

    /// Returns the number of unacknowledged records, by scanning them.
    ///
    /// - Throws: ``JournalError`` if the journal cannot be read.
    public func pendingCount() throws(JournalError) -> Int { try counts().pending }
}

extension Journal {
    /// Counts the records for a consumer; the caller holds the folder's lock.
    func counts(of cursor: CursorFile, as name: String) throws(FileSystemError) -> ConsumerCounts {
        let numbers = try folder.segments()
        var counts = try losses(of: cursor, as: name, Set(numbers))
        for number in numbers {
            let progress = cursor.segments[number]
            let known = try SegmentSurvey.unacknowledged(number, progress, in: folder)
            if let known {
                counts.pending += known
            } else {
                counts.pending += try SegmentSurvey(number, in: folder)?.recordCount ?? 0
            }
        }
        return counts
    }

    /// Counts the records that a consumer will never receive; the caller holds the folder's lock.
    func losses(
        of cursor: CursorFile,
        as name: String,
        _ numbers: Set<UInt64>
    ) throws(FileSystemError) -> ConsumerCounts {
        var counts = ConsumerCounts()
        counts.lost = try LostRecords(of: name, in: folder).count() + cursor.expired
        counts.corrupt = cursor.damaged
        for (number, progress) in cursor.segments where numbers.contains(number) {
            counts.lost += progress.newlyExpired
            counts.corrupt += progress.newlyDamaged
        }
        return counts
    }
}
