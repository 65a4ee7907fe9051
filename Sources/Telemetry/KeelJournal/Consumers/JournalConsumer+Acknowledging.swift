internal import KeelCore
internal import Synchronization

extension JournalConsumer {
    /// Marks records as acknowledged, so that they are not returned again.
    ///
    /// Positions that ``read(upTo:bytes:)`` has not returned since the last ``rewind()``, and acknowledged ones, are
    /// ignored.
    ///
    /// - Throws: ``JournalError`` if the change could not be stored; a restart can then return the records again.
    public func acknowledge(_ positions: some Sequence<JournalPosition>) throws(JournalError) {
        try change { $0.acknowledge(positions).outcome }
    }

    /// Marks records as acknowledged and replaces the consumer's note, atomically, even if the process crashes.
    ///
    /// - Parameters:
    ///   - positions: The records, chosen as in ``acknowledge(_:)``. Records that the journal's bounds have removed are
    ///     ignored.
    ///   - note: Makes the new ``note``, of at most 4,096 bytes, from the positions that were not ignored. It is called
    ///     at most once, and must not call the journal.
    /// - Throws: ``JournalError``. If storing fails, a restart can find the old state. If the note is too long
    ///   (``JournalError/Code/invalidArgument``), nothing is acknowledged.
    public func acknowledge(
        _ positions: some Sequence<JournalPosition>,
        noting note: (_ acknowledged: [JournalPosition]) -> [UInt8]
    ) throws(JournalError) {
        try change(noting: note) { $0.acknowledge(positions) }
    }

    /// The note last stored together with acknowledged records; initially empty.
    public var note: [UInt8] { state.withLock { $0.cursor.note } }

    /// Acknowledges all records that match a closure, whether returned or not.
    ///
    /// Scans all unacknowledged records, without changing which of the others are returned next.
    ///
    /// - Parameters:
    ///   - matches: Returns whether a record is acknowledged. It must not call the journal.
    ///   - note: Makes the new ``note`` from the matching positions, as in ``acknowledge(_:noting:)``.
    /// - Throws: ``JournalError``, for example if a record cannot be decrypted.
    public func discard(
        where matches: (JournalRecord) -> Bool,
        noting note: (_ acknowledged: [JournalPosition]) -> [UInt8]
    ) throws(JournalError) {
        var chosen: [UInt64: SegmentProgress] = [:]
        var positions: [JournalPosition] = []
        try look { number, progress in
            chosen[number] = progress
        } at: { record in
            if matches(record) { positions.append(record.position) }
        }
        try change(noting: note) { cursor in
            var change = CursorFile.Change()
            for position in positions {
                guard let probe = chosen[position.segment] else { continue }
                let known = cursor.segments[position.segment]
                var progress =
                    known.flatMap { $0.id == probe.id ? $0 : nil }
                    ?? SegmentProgress(of: probe.id)
                guard progress.discard(position.offset) else { continue }
                cursor.segments[position.segment] = progress
                change.add(position, hasEnded: progress.isDone)
            }
            return change
        }
        try passAcknowledged()
    }

    /// Acknowledges all records without decrypting them.
    ///
    /// - Returns: The number of records that were not yet acknowledged, expired or corrupt.
    /// - Throws: ``JournalError`` if the journal cannot be read or changed.
    public func discardAll() throws(JournalError) -> Int {
        var count = 0
        rewind()
        try walk(opens: false) { _ in
            count += 1
            return .skip
        }
        try change { _ in (isWritten: true, hasEnded: true) }
        return count
    }

    /// Visits every unacknowledged record without returning it.
    private func look(
        _ end: (UInt64, SegmentProgress?) -> Void,
        at record: (JournalRecord) -> Void
    ) throws(JournalError) {
        try state.withLock { state throws(JournalError) in
            var walk = ConsumerWalk(journal, opens: true)
            for number in try journal.segments() {
                var probe = state.cursor.segments[number].map(\.unread)
                _ = try walk.meet(number, &probe) { found in
                    record(found)
                    return .pass
                }
                end(number, probe)
            }
        }
    }

    /// Moves past the acknowledged records, so that a segment with nothing left is done.
    private func passAcknowledged() throws(JournalError) {
        let hasEnded = try state.withLock { state throws(JournalError) in
            var walk = ConsumerWalk(journal, opens: false)
            var hasEnded = false
            for number in try journal.segments() {
                let wasDone = state.cursor.segments[number]?.isDone == true
                _ = try walk.meet(number, &state.cursor.segments[number]) { _ in .stop }
                let isDone = state.cursor.segments[number]?.isDone == true
                hasEnded = hasEnded || isDone && !wasDone
            }
            return hasEnded
        }
        try change { _ in (isWritten: hasEnded, hasEnded: hasEnded) }
    }

    // MARK: Storing

    private func change(
        noting note: ([JournalPosition]) -> [UInt8],
        _ body: (inout CursorFile) -> CursorFile.Change
    ) throws(JournalError) {
        var isTooLong = false
        try change { cursor in
            let before = cursor
            let change = body(&cursor)
            let bytes = note(change.acknowledged)
            guard bytes.count <= CursorFile.noteByteLimit else {
                cursor = before
                isTooLong = true
                return (false, false)
            }
            cursor.note = bytes
            return (change.outcome.isWritten || bytes != before.note, change.outcome.hasEnded)
        }
        guard isTooLong else { return }
        throw JournalError(
            .invalidArgument,
            "A consumer's note must have at most \(CursorFile.noteByteLimit) bytes"
        )
    }

    /// Changes what is acknowledged, and stores it together with an earlier change that could not be stored.
    ///
    /// Holds the folder's lock: the records of a segment removed in the meantime are lost, not acknowledged.
    func change(
        _ body: (inout CursorFile) -> (isWritten: Bool, hasEnded: Bool)
    ) throws(JournalError) {
        let (folder, configuration) = (journal.folder, journal.configuration)
        try JournalError.mapped("Storing the acknowledgements") { () throws(FileSystemError) in
            try state.withLock { state throws(FileSystemError) in
                try folder.locked { () throws(FileSystemError) in
                    let numbers = Set(try folder.segments())
                    state.cursor.segments = state.cursor.segments.filter {
                        numbers.contains($0.key)
                    }
                    let (isWritten, hasEnded) = body(&state.cursor)
                    guard isWritten || state.isUnstored else { return }
                    state.cursor.countPassedOver()
                    state.isUnstored = true
                    try folder.replace(
                        name + JournalFolder.cursorSuffix,
                        with: state.cursor.bytes,
                        isSynced: configuration.durability == .power
                    )
                    state.isUnstored = false
                    guard hasEnded else { return }
                    let retention = Retention(folder, configuration, now: configuration.now())
                    try retention.removeAcknowledged()
                }
            }
        }
    }
}

extension CursorFile {
    struct Change {
        private(set) var acknowledged: [JournalPosition] = []
        private var hasEnded = false

        var outcome: (isWritten: Bool, hasEnded: Bool) { (!acknowledged.isEmpty, hasEnded) }

        mutating func add(_ position: JournalPosition, hasEnded: Bool) {
            acknowledged.append(position)
            self.hasEnded = self.hasEnded || hasEnded
        }
    }

    mutating func acknowledge(_ positions: some Sequence<JournalPosition>) -> Change {
        var change = Change()
        for position in positions {
            guard segments[position.segment]?.acknowledge(position.offset) == true else { continue }
            change.add(position, hasEnded: segments[position.segment]?.isDone == true)
        }
        return change
    }

    mutating func countPassedOver() {
        for number in segments.keys {
            expired += segments[number]?.newlyExpired ?? 0
            damaged += segments[number]?.newlyDamaged ?? 0
            segments[number]?.newlyExpired = 0
            segments[number]?.newlyDamaged = 0
        }
    }
}
