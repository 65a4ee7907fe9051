internal import KeelCore

/// Reads the records of a journal in order, and continues when there are more.
///
/// Its position is in memory only; it does not affect the journal.
public struct JournalReader: Sendable {
    private let journal: Journal
    private var segments: [UInt64: SegmentProgress]

    init(_ journal: Journal, _ segments: [UInt64: SegmentProgress]) {
        self.journal = journal
        self.segments = segments
    }

    /// Returns the next records.
    ///
    /// - Parameters:
    ///   - count: The maximum number of records.
    ///   - bytes: The maximum total size of the records in bytes; a first record is returned at any size.
    /// - Returns: The records; empty if there are no new ones yet.
    /// - Throws: ``JournalError``, for example if a record cannot be decrypted. The next call then starts at the same
    ///   record.
    public mutating func read(
        upTo count: Int,
        bytes: Int = .max
    ) throws(JournalError) -> [JournalRecord] {
        let numbers = try journal.segments()
        var progress = segments.filter { numbers.contains($0.key) }
        var walk = ConsumerWalk(journal, opens: true, skipsLost: false)
        var records: [JournalRecord] = []
        var size = 0
        for number in numbers {
            let goesOn = try walk.meet(number, &progress[number]) { record in
                let fits =
                    records.count < count && (records.isEmpty || size + record.bytes.count <= bytes)
                guard fits else { return .stop }
                records.append(record)
                size += record.bytes.count
                // Acknowledgement does not apply to a reader.
                return .skip
            }
            guard goesOn else { break }
        }
        segments = progress
        return records
    }
}
