internal import KeelCore

struct ConsumerWalk {
    enum Decision {
        /// Returned to the consumer.
        case pass
        /// Counts as acknowledged.
        case skip
        /// Ends the walk before the record.
        case stop
    }

    private let journal: Journal
    private let opens: Bool
    private let skipsLost: Bool
    private let active: JournalPosition?
    private let oldest: Int64
    /// The number of torn or corrupt records, and of those whose key was destroyed.
    private(set) var damaged = 0

    /// Creates a walk; without `opens`, it visits sealed records as they are.
    ///
    /// A record whose key was destroyed counts as corrupt if `skipsLost`; otherwise it ends the walk.
    init(_ journal: Journal, opens: Bool, skipsLost: Bool = true) {
        self.journal = journal
        self.opens = opens
        self.skipsLost = skipsLost
        active = journal.activeEnd
        oldest = journal.oldest ?? .min
    }

    /// Visits the unread records of one segment; returns whether the walk continues with the next segment.
    mutating func meet(
        _ number: UInt64,
        _ progress: inout SegmentProgress?,
        _ decide: (JournalRecord) -> Decision
    ) throws(JournalError) -> Bool {
        let result = try JournalError.mapped("Reading records") { () throws(FileSystemError) in
            try walk(number, &progress, decide)
        }
        return try result.get()
    }

    private mutating func walk(
        _ number: UInt64,
        _ known: inout SegmentProgress?,
        _ decide: (JournalRecord) -> Decision
    ) throws(FileSystemError) -> Result<Bool, JournalError> {
        // Without a header, the segment has just been created, or is corrupt as a whole.
        guard let header = try journal.folder.scanner(of: number)?.header else {
            return .success(true)
        }
        var current =
            known.flatMap { $0.id == header.id ? $0 : nil } ?? SegmentProgress(of: header.id)
        defer { known = current }
        guard !current.hasEnded, !current.isDone else { return .success(true) }
        return try walk(number, &current, decide)
    }

    private mutating func walk(
        _ number: UInt64,
        _ progress: inout SegmentProgress,
        _ decide: (JournalRecord) -> Decision
    ) throws(FileSystemError) -> Result<Bool, JournalError> {
        let limit = active?.segment == number ? active?.offset : nil
        var isDead = false
        guard var scanner = try journal.folder.scanner(of: number, at: progress.readTo) else {
            return .success(true)
        }
        while true {
            let offset = scanner.offset
            switch try scanner.next(upTo: limit) {
            case .record(let time, let content, let end):
                if progress.acknowledgedAbove.contains(offset) {
                    progress.pass(offset, end: end)
                    continue
                }
                guard time >= oldest else {
                    progress.skip(offset, end: end)
                    progress.newlyExpired += 1
                    continue
                }
                let position = JournalPosition(segment: number, offset: offset)
                let bytes: [UInt8]?
                do throws(JournalError) {
                    bytes = try opens ? opened(content, position, scanner.header) : content
                } catch {
                    return .failure(error)
                }
                guard let bytes else {
                    damaged += 1
                    progress.newlyDamaged += 1
                    progress.skip(offset, end: end)
                    continue
                }
                switch decide(JournalRecord(position: position, time: time, bytes: bytes)) {
                case .pass: progress.pass(offset, end: end)
                case .skip: progress.skip(offset, end: end)
                case .stop: return .success(false)
                }
            case .damaged(let end):
                // Another process may be writing it right now, or may erase it.
                guard isDead else {
                    guard let again = try lastLook(at: number, from: offset) else {
                        return .success(true)
                    }
                    (isDead, scanner) = (true, again)
                    continue
                }
                guard !progress.acknowledgedAbove.contains(offset) else {
                    progress.pass(offset, end: end)
                    continue
                }
                damaged += 1
                progress.newlyDamaged += 1
                progress.skip(offset, end: end)
            case .erased(let end): progress.skip(offset, end: end)
            case .end:
                progress.finish()
                return .success(true)
            case .nothing, .needs:
                guard limit == nil else { return .success(true) }
                guard isDead else {
                    guard let again = try lastLook(at: number, from: offset) else {
                        return .success(true)
                    }
                    (isDead, scanner) = (true, again)
                    continue
                }
                if try scanner.hasRest() { damaged += 1 }
                progress.finish()
                return .success(true)
            }
        }
    }

    /// Returns the content of a record as it was appended; nil if it is lost, because its key was destroyed.
    ///
    /// - Throws: ``JournalError`` if the key is not available, as on a locked device: the record waits for it.
    private func opened(
        _ content: [UInt8],
        _ position: JournalPosition,
        _ header: SegmentHeader
    ) throws(JournalError) -> [UInt8]? {
        do throws(JournalError) {
            return try journal.open(content, position, header)
        } catch {
            guard skipsLost, header.isSealed,
                let sealing = journal.configuration.sealing, sealing.isLost(content)
            else { throw error }
            return nil
        }
    }

    /// Opens a segment again if its writer has ended, which may have appended since the first look; otherwise nil.
    private func lastLook(
        at number: UInt64,
        from offset: Int
    ) throws(FileSystemError) -> SegmentScanner? {
        let folder = journal.folder
        let isLive = try folder.locked { () throws(FileSystemError) in try folder.isLive(number) }
        guard isLive == false else { return nil }
        return try folder.scanner(of: number, at: offset)
    }
}
