package import KeelCore
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A log of records on disk that several consumers read, each at its own pace.
///
/// ```swift
/// let journal = try Journal(at: folder)
/// let consumer = try journal.consumer("server")
/// try journal.append(bytes)
/// for record in try consumer.read(upTo: 100) {
///     try await send(record.bytes)
///     try consumer.acknowledge([record.position])
/// }
/// ```
///
/// - Once ``append(_:)`` has returned, the record survives any end of the process; with
///   ``JournalConfiguration/Durability/power``, a power failure as well.
/// - Appending is synchronous and fast, for callers that cannot wait.
/// - A consumer receives each record until it has acknowledged it: at least once, and usually exactly once. Records can
///   be acknowledged in any order.
/// - A torn, corrupt or deleted record costs only itself.
/// - Several processes can append to one folder and consume from it; a consumer's name belongs to one of them at a
///   time.
/// - The bounds of the configuration hold; records removed by them are counted for each consumer.
///
/// The format is described in `Documentation/Protocols/Journal.md`.
public final class Journal: Sendable {
    struct State {
        var active: ActiveSegment?
        /// The number of the segment begun last.
        var begun: UInt64?
        /// The same at the last ``Journal/sync()``.
        var begunBeforeSync: UInt64?
        var lastLook: Int64 = 0
        var statistics = JournalStatistics()
    }

    let folder: JournalFolder
    let configuration: JournalConfiguration
    let signal = Signal()
    private let state = Mutex(State())
    /// The synchronized state, under a lock that only one synchronization holds.
    private struct Synced {
        /// How far the data is on disk.
        var end: JournalPosition?
        /// The segment whose synchronization failed last.
        var failed: UInt64?
    }

    private let synced = Mutex(Synced())

    /// Opens a journal, creating its folder if needed.
    ///
    /// - Parameters:
    ///   - folder: A folder used by the journal only.
    ///   - configuration: The limits and durability.
    /// - Throws: `JournalError`, with `invalidArgument` for limits outside of their ranges.
    public convenience init(
        at folder: URL,
        configuration: JournalConfiguration = JournalConfiguration()
    ) throws(JournalError) {
        try self.init(
            at: folder.path(percentEncoded: false),
            configuration: configuration,
            files: DiskFileSystem()
        )
    }

    package init(
        at path: String,
        configuration: JournalConfiguration,
        files: any FileSystem
    ) throws(JournalError) {
        try configuration.check()
        self.configuration = configuration
        let trimmed = path.hasSuffix("/") ? String(path.dropLast()) : path
        folder = JournalFolder(path: trimmed, files: files)
        let made = folder.path
        try JournalError.mapped("Opening the journal") { () throws(FileSystemError) in
            try files.makeFolder(made)
        }
    }

    /// The counts since the journal was opened.
    public var statistics: JournalStatistics { state.withLock { $0.statistics } }

    // MARK: Appending

    /// Appends a record.
    ///
    /// Takes one or two system calls, except at the start of a segment, which may wait for another process that is
    /// creating or removing one. With ``JournalConfiguration/Durability/power``, it waits for the disk.
    ///
    /// - Parameter record: The bytes, at most ``JournalConfiguration/recordByteLimit``.
    /// - Returns: The position of the record.
    /// - Throws: ``JournalError``: ``JournalError/Code/tooLarge`` for a record beyond the limit,
    ///   ``JournalError/Code/full`` if the journal refuses records at its bounds, ``JournalError/Code/sealingFailed``
    ///   if it cannot be encrypted. The record is then not stored; after a failed synchronization for
    ///   ``JournalConfiguration/Durability/power``, it may be.
    @discardableResult
    public func append(_ record: [UInt8]) throws(JournalError) -> JournalPosition {
        guard record.count <= configuration.longestRecord else {
            throw JournalError(
                .tooLarge,
                "A record of \(record.count) bytes exceeds the limit of \(configuration.longestRecord)"
            )
        }
        let now = configuration.now()
        let (position, segment) = try state.withLock { state throws(JournalError) in
            let result: Result<(JournalPosition, ActiveSegment?), JournalError>
            do throws(FileSystemError) {
                result = try write(record, at: now, &state)
            } catch {
                result = .failure(JournalError(error, "Appending a record"))
            }
            if case .failure = result { state.statistics.refused += 1 }
            return try result.get()
        }
        if let segment { try sync(segment) }
        signal.raise()
        return position
    }

    private var isPowerSafe: Bool { configuration.durability == .power }

    private func write(
        _ record: [UInt8],
        at now: Int64,
        _ state: inout State
    ) throws(FileSystemError) -> Result<(JournalPosition, ActiveSegment?), JournalError> {
        let size = RecordFrame.headerByteCount + record.count
        if let error = try makeRoom(for: size, at: now, &state) { return .failure(error) }
        // Always accessed in place: a copy would retain the segment's file and lock.
        guard let position = state.active?.position else {
            return .failure(JournalError(.fileFailed, "The journal has no segment to write to"))
        }
        var content = record
        if let sealing = configuration.sealing, let header = state.active?.header {
            do {
                content = try sealing.seal(record, context: Self.context(position, header))
            } catch {
                return .failure(JournalError(.sealingFailed, "Sealing failed", cause: error))
            }
        }
        do throws(FileSystemError) {
            try state.active?.append(content, time: now)
        } catch {
            // A torn record stays behind: the next record starts another segment.
            if state.active?.isBroken == true { state.active = nil }
            throw error
        }
        state.statistics.appended += 1
        return .success((position, isPowerSafe ? state.active : nil))
    }

    /// Ensures that there is a segment in place with room for a record.
    private func makeRoom(
        for size: Int,
        at now: Int64,
        _ state: inout State
    ) throws(FileSystemError) -> JournalError? {
        if state.active != nil {
            // Checked from time to time: after the folder is deleted, new records must not be lost.
            if now - state.lastLook >= 50_000 || now < state.lastLook {
                state.lastLook = now
                if state.active?.isInPlace == false { state.active = nil }
            }
            if state.active?.hasRoom(for: size, at: now, configuration) == false {
                try? state.active?.finish(time: now)
                state.active = nil
            }
        }
        guard state.active == nil else { return nil }
        try folder.files.makeFolder(folder.path)
        let retention = Retention(folder, configuration, now: now)
        return try folder.locked { () throws(FileSystemError) in
            // Before anything is removed: a number is never reused.
            let last = try folder.segments().last ?? 0
            let (removed, isFull) = try retention.makeRoom(for: size)
            state.statistics.removedSegments += removed
            if isFull {
                return JournalError(.full, "The journal has reached its bounds")
            }
            let header = SegmentHeader(
                number: last + 1,
                id: UInt64.random(in: .min ... .max),
                isSealed: configuration.sealing != nil,
                time: now
            )
            state.active = try ActiveSegment(
                header,
                in: folder,
                isSynced: isPowerSafe
            )
            state.begun = header.number
            state.lastLook = now
            return nil
        }
    }

    /// The context that a sealed record is bound to: its segment and offset.
    static func context(_ position: JournalPosition, _ header: SegmentHeader) -> [UInt8] {
        var context: [UInt8] = []
        context.append(littleEndian: header.id)
        context.append(littleEndian: UInt64(position.offset))
        return context
    }

    // MARK: Closing

    /// Makes the records appended so far survive a power failure.
    ///
    /// With ``JournalConfiguration/Durability/power`` every append has already done so.
    ///
    /// - Throws: ``JournalError`` if the records cannot be synchronized. It is then unknown which records survive a
    ///   power failure. If the current segment is affected, the next append starts another one.
    public func sync() throws(JournalError) {
        let (active, begun, synced) = state.withLock { ($0.active, $0.begun, $0.begunBeforeSync) }
        if let active { try sync(active) }
        guard !isPowerSafe, active == nil || begun != synced else { return }
        // Records may be in segments that have ended since, and the names of new ones may not be on disk.
        try JournalError.mapped("Synchronizing the journal") { () throws(FileSystemError) in
            let numbers = try folder.segments()
            for number in numbers where number >= synced ?? 0 && number != active?.header.number {
                try folder.files.openIfThere(folder.path(ofSegment: number))?.sync()
            }
            try folder.files.syncFolder(folder.path)
        }
        state.withLock { $0.begunBeforeSync = begun }
    }

    /// Synchronizes a segment up to a record, unless another thread has already done so.
    ///
    /// The segment is a parameter because another one may be active by now.
    private func sync(_ segment: ActiveSegment) throws(JournalError) {
        let end = segment.position
        try synced.withLock { synced throws(JournalError) in
            if let known = synced.end, known.segment == end.segment, known.offset >= end.offset {
                return
            }
            // A system reports unwritten bytes once, and success on the next call: later records
            // would seem safe, and be lost with them.
            guard synced.failed != end.segment else {
                throw JournalError(.fileFailed, "Synchronizing the journal failed earlier")
            }
            let latest = activeEnd.flatMap { $0.segment == end.segment ? $0 : nil } ?? end
            do throws(FileSystemError) {
                try segment.sync()
            } catch {
                synced.failed = end.segment
                leave(end.segment)
                throw JournalError(error, "Synchronizing the journal")
            }
            synced.end = latest
        }
    }

    private func leave(_ segment: UInt64) {
        state.withLock { state in
            if state.active?.position.segment == segment { state.active = nil }
        }
    }

    /// Ends the current segment, so that readers see that nothing follows.
    ///
    /// The next append starts another segment. A journal released without this call loses nothing.
    ///
    /// - Throws: ``JournalError`` if the end cannot be written.
    public func close() throws(JournalError) {
        try state.withLock { state throws(JournalError) in
            guard let active = state.active.take() else { return }
            try JournalError.mapped("Closing the journal") { () throws(FileSystemError) in
                try active.finish(time: configuration.now())
            }
        }
        signal.raise()
    }

    /// Ends the current segment and starts the next, so that records acknowledged by every consumer leave the disk
    /// immediately.
    ///
    /// Otherwise a segment stays at least until the next one starts. Segments that another process is writing stay, and
    /// so do all if there is no consumer.
    ///
    /// - Throws: ``JournalError`` if the folder cannot be changed, with ``JournalError/Code/full`` if the journal
    ///   refuses records at its bounds.
    public func removeAcknowledged() throws(JournalError) {
        let now = configuration.now()
        let doing = "Removing acknowledged records"
        let refusal = try JournalError.mapped(doing) { () throws(FileSystemError) in
            let refusal = try state.withLock { state throws(FileSystemError) in
                if let active = state.active.take() { try? active.finish(time: now) }
                return try makeRoom(for: RecordFrame.headerByteCount, at: now, &state)
            }
            try folder.locked { () throws(FileSystemError) in
                try Retention(folder, configuration, now: now).removeAcknowledged()
            }
            return refusal
        }
        if let refusal { throw refusal }
        signal.raise()
    }

    // MARK: For consumers

    /// The segment that this journal writes to, and the end of its last record.
    var activeEnd: JournalPosition? { state.withLock { $0.active?.position } }

    /// The time before which records have surely expired; nil if none has.
    var oldest: Int64? {
        guard configuration.ageLimit != nil else { return nil }
        let now = configuration.now()
        return try? folder.locked { () throws(FileSystemError) in
            folder.oldest(configuration, at: now)
        }
    }

    func count(_ change: (inout JournalStatistics) -> Void) {
        state.withLock { change(&$0.statistics) }
    }
}
