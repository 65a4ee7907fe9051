internal import KeelCore
internal import Synchronization

/// Reads a journal at its own pace, and persists which records are acknowledged.
///
/// Records are returned in order, each once until ``rewind()`` or a restart, and never again once acknowledged.
/// Consumers do not affect each other.
public final class JournalConsumer: Sendable {
    /// The position at which a new consumer starts.
    public enum Start: Sendable, Hashable {
        /// At the oldest record.
        case oldest
        /// At the next record that is appended.
        case newest
    }

    struct State {
        var cursor: CursorFile
        /// The signal's generation before the last look at the records.
        var seen: UInt64 = 0
        /// Whether the last change could not be stored; the next one stores both.
        var isUnstored = false
    }

    /// The name, unique within the journal.
    public let name: String

    let journal: Journal
    private let lock: any FileLock
    let state: Mutex<State>

    init(_ name: String, of journal: Journal, from start: Start) throws(JournalError) {
        guard Self.isGood(name) else {
            throw JournalError(
                .invalidArgument,
                "A consumer's name must have 1 to 64 letters, digits, “-” and “_”, and not be “journal”"
            )
        }
        let folder = journal.folder
        self.name = name
        self.journal = journal
        do throws(FileSystemError) {
            try folder.files.makeFolder(folder.path)
            lock = try folder.files.lock(folder.path(of: name + ".lock"))
            let bytes = try folder.contents(of: name + JournalFolder.cursorSuffix)
            state = Mutex(State(cursor: bytes.flatMap(CursorFile.init) ?? CursorFile()))
            guard bytes == nil else { return }
        } catch {
            guard error.kind != .busy else {
                throw JournalError(
                    .consumerInUse,
                    "The consumer “\(name)” is already open",
                    cause: error
                )
            }
            throw JournalError(error, "Opening the consumer")
        }
        // From now on the consumer exists on disk, and no record is removed before it has read it.
        if start == .newest { _ = try discardAll() }
        try change { _ in (isWritten: true, hasEnded: false) }
    }

    private static func isGood(_ name: String) -> Bool {
        // The lock of a consumer "journal" would be the folder's; some volumes ignore the case of names.
        (1...64).contains(name.utf8.count) && name.lowercased() != "journal"
            && name.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-_".utf8.contains($0) }
    }

    // MARK: Reading

    /// Returns the next records.
    ///
    /// - Parameters:
    ///   - count: The maximum number of records.
    ///   - bytes: The maximum total size of the records in bytes; a first record is returned at any size.
    /// - Returns: The records; empty if there are no new ones.
    /// - Throws: ``JournalError``, for example if a record cannot be decrypted. Call ``rewind()`` before the next
    ///   attempt, which otherwise skips the records read before the failure.
    public func read(
        upTo count: Int,
        bytes: Int = .max
    ) throws(JournalError) -> [JournalRecord] {
        var records: [JournalRecord] = []
        var size = 0
        try walk { record in
            let fits =
                records.count < count && (records.isEmpty || size + record.bytes.count <= bytes)
            guard fits else { return .stop }
            records.append(record)
            size += record.bytes.count
            return .pass
        }
        return records
    }

    /// Makes ``read(upTo:bytes:)`` return all unacknowledged records again, for example after a failure.
    public func rewind() {
        state.withLock { state in
            for number in state.cursor.segments.keys { state.cursor.segments[number]?.rewind() }
        }
    }

    /// Waits until records may have been appended since the last ``read(upTo:bytes:)``, or the task is canceled.
    ///
    /// Records that another process or another ``Journal`` appends do not end the wait; they are found after the limit.
    ///
    /// - Parameters:
    ///   - limit: The maximum time to wait; nil for no limit.
    ///   - clock: The clock for the limit.
    public func waitForRecords(
        upTo limit: Duration?,
        clock: any Clock<Duration> = ContinuousClock()
    ) async {
        let seen = state.withLock { $0.seen }
        guard let limit else { return await journal.signal.wait(since: seen) }
        await journal.signal.wait(since: seen, upTo: limit, on: clock)
    }

    // MARK: Iterating

    /// Visits the unread records until the closure stops at one.
    func walk(
        opens: Bool = true,
        _ decide: (JournalRecord) -> ConsumerWalk.Decision
    ) throws(JournalError) {
        let generation = journal.signal.generation
        try state.withLock { state throws(JournalError) in
            state.seen = generation
            // Listed first: otherwise a segment that begins in between is read before the end of the current one.
            let numbers = try journal.segments()
            var walk = ConsumerWalk(journal, opens: opens)
            state.cursor.segments = state.cursor.segments.filter { numbers.contains($0.key) }
            for number in numbers {
                guard try walk.meet(number, &state.cursor.segments[number], decide) else { break }
            }
            journal.count { $0.corrupt += walk.damaged }
        }
    }
}
