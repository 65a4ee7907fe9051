internal import KeelCore

/// Reads the records of a journal in order, and goes on when there are more.
///
/// It remembers where it is, in memory only; to the journal it is nobody.
public struct JournalReader: Sendable {
    private let journal: Journal
    private var segments: [UInt64: SegmentProgress]

    init(_ journal: Journal, _ segments: [UInt64: SegmentProgress]) {
        self.journal = journal
        self.segments = segments
    }

    /// Gives out the next records.
    ///
    /// - Parameters:
    ///   - count: How many at most.
    ///   - bytes: How many bytes of records at most; one record is given out whatever its length.
    /// - Returns: The records, none if there is nothing new by now.
    /// - Throws: ``JournalError``. Nothing is passed over then: the next call begins here again.
    public mutating func take(
        upTo count: Int,
        bytes: Int = .max
    ) throws(JournalError) -> [JournalRecord] {
        let numbers: [UInt64]
        do throws(FileSystemError) {
            numbers = try journal.folder.segments()
        } catch {
            throw JournalError(error, "Looking for records")
        }
        var progress = segments.filter { numbers.contains($0.key) }
        var walk = ConsumerWalk(journal, opens: true)
        var records: [JournalRecord] = []
        var size = 0
        for number in numbers {
            let goesOn = try walk.meet(number, &progress[number]) { record in
                let fits =
                    records.count < count && (records.isEmpty || size + record.bytes.count <= bytes)
                guard fits else { return .stop }
                records.append(record)
                size += record.bytes.count
                // Nobody will settle it.
                return .skip
            }
            guard goesOn else { break }
        }
        segments = progress
        return records
    }
}
