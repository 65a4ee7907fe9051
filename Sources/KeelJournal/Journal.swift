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
/// for record in try consumer.take(upTo: 100) {
///     try await send(record.bytes)
///     try consumer.settle([record.position])
/// }
/// ```
///
/// - Once ``append(_:)`` has returned, the record survives the end of the process, however it ends;
///   with ``JournalConfiguration/Durability/power`` a power failure too.
/// - Appending is synchronous and short, for callers that cannot wait.
/// - A consumer gets each record until it has settled it: at least once, and mostly once. Records
///   may be settled in any order.
/// - A record that is torn, damaged or removed from outside costs itself and no other.
/// - Several processes may append to one folder and consume from it; a consumer's name belongs to
///   one of them at a time.
/// - The bounds of the configuration hold; what they cost is counted for each consumer.
///
/// The format is described in `Documentation/Protocols/Journal.md`.
public final class Journal: Sendable {
    struct State {
        var active: ActiveSegment?
        /// When the path of the active segment was last looked at.
        var lastLook: Int64 = 0
        var statistics = JournalStatistics()
    }

    let folder: JournalFolder
    let configuration: JournalConfiguration
    let signal = Signal()
    private let state = Mutex(State())
    /// What the disk has, under the lock that only one synchronisation holds.
    private struct Synced {
        /// How far it has the bytes.
        var end: JournalPosition?
        /// The segment whose synchronisation failed last.
        var failed: UInt64?
    }

    private let synced = Mutex(Synced())

    /// Opens a journal, making its folder where it is missing.
    ///
    /// - Parameters:
    ///   - folder: The journal's own folder.
    ///   - configuration: Its limits.
    /// - Throws: `JournalError`.
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
        do throws(FileSystemError) {
            try files.makeFolder(folder.path)
        } catch {
            throw JournalError(error, "Opening the journal")
        }
    }

    /// What has happened to this journal since it was opened.
    public var statistics: JournalStatistics { state.withLock { $0.statistics } }

    // MARK: Appending

    /// Keeps a record.
    ///
    /// It takes one call of the system, but for the beginning of a segment, which may wait for
    /// another process that begins or removes one.
    ///
    /// - Parameter record: The bytes, at most ``JournalConfiguration/recordByteLimit``.
    /// - Returns: Where the record is.
    /// - Throws: ``JournalError``. Nothing of the record is then kept, unless it is the
    ///   synchronisation for ``JournalConfiguration/Durability/power`` that failed: then it may be.
    @discardableResult
    public func append(_ record: [UInt8]) throws(JournalError) -> JournalPosition {
        guard record.count <= configuration.longestRecord else {
            throw JournalError(
                .tooLarge,
                "A record of \(record.count) bytes is over \(configuration.longestRecord)"
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

    /// Writes a record.
    ///
    /// - Returns: Where it is, and the segment where that has to be synchronised.
    private func write(
        _ record: [UInt8],
        at now: Int64,
        _ state: inout State
    ) throws(FileSystemError) -> Result<(JournalPosition, ActiveSegment?), JournalError> {
        let size = RecordFrame.headerByteCount + record.count
        if let error = try makeRoom(for: size, at: now, &state) { return .failure(error) }
        // Always in its place: a copy would retain what it holds.
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
            // What could not be cut off stays behind: the next record begins another segment.
            if state.active?.isBroken == true { state.active = nil }
            throw error
        }
        state.statistics.appended += 1
        return .success((position, isPowerSafe ? state.active : nil))
    }

    /// Sees to it that there is a segment in place with room for a record.
    private func makeRoom(
        for size: Int,
        at now: Int64,
        _ state: inout State
    ) throws(FileSystemError) -> JournalError? {
        if state.active != nil {
            // Looked at now and then: what somebody removes is lost anyway, what follows must not be.
            if now - state.lastLook >= 50_000 || now < state.lastLook {
                state.lastLook = now
                if state.active?.isInPlace == false { state.active = nil }
            }
            if state.active?.hasRoom(for: size, configuration) == false {
                try? state.active?.finish(time: now)
                state.active = nil
            }
        }
        guard state.active == nil else { return nil }
        try folder.files.makeFolder(folder.path)
        let retention = Retention(folder, configuration, now: now)
        return try folder.locked { () throws(FileSystemError) in
            // Before anything goes: a number is never given twice.
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
            state.lastLook = now
            return nil
        }
    }

    /// What a sealed record is bound to: its segment and its place.
    static func context(_ position: JournalPosition, _ header: SegmentHeader) -> [UInt8] {
        var context: [UInt8] = []
        context.append(littleEndian: header.id)
        context.append(littleEndian: UInt64(position.offset))
        return context
    }

    // MARK: Ends

    /// Makes what was appended to the current segment survive a power failure.
    ///
    /// With ``JournalConfiguration/Durability/power`` every append has done so already. After a
    /// failure nobody knows what of the segment a power failure would leave: the next append begins
    /// another one, and what is there is still read.
    ///
    /// - Throws: ``JournalError``.
    public func sync() throws(JournalError) {
        guard let active = state.withLock({ $0.active }) else { return }
        try sync(active)
    }

    /// Synchronises a segment, as it was after a record, unless somebody else has meanwhile.
    ///
    /// The segment comes with the call: another may be the active one by now.
    private func sync(_ segment: ActiveSegment) throws(JournalError) {
        let end = segment.position
        try synced.withLock { synced throws(JournalError) in
            if let known = synced.end, known.segment == end.segment, known.offset >= end.offset {
                return
            }
            // A system tells of bytes that it could not write once, and says yes to the next call:
            // what lies behind them would seem safe, and be lost with them.
            guard synced.failed != end.segment else {
                throw JournalError(.fileFailed, "Synchronising the journal failed before")
            }
            let latest = activeEnd.flatMap { $0.segment == end.segment ? $0 : nil } ?? end
            do throws(FileSystemError) {
                try segment.sync()
            } catch {
                synced.failed = end.segment
                leave(end.segment)
                throw JournalError(error, "Synchronising the journal")
            }
            synced.end = latest
        }
    }

    /// Writes no more to a segment; the next append begins another one.
    private func leave(_ segment: UInt64) {
        state.withLock { state in
            if state.active?.position.segment == segment { state.active = nil }
        }
    }

    /// Ends the segment that is being written, so that others see that nothing follows.
    ///
    /// The next append begins another one. A journal that is let go without it loses nothing.
    ///
    /// - Throws: ``JournalError``.
    public func close() throws(JournalError) {
        try state.withLock { state throws(JournalError) in
            guard let active = state.active.take() else { return }
            do throws(FileSystemError) {
                try active.finish(time: configuration.now())
            } catch {
                throw JournalError(error, "Closing the journal")
            }
        }
        signal.raise()
    }

    /// Ends the segment that is being written and begins the next, so that what every consumer has
    /// done with leaves the disk at once.
    ///
    /// Without it, a segment stays at least until the next one begins.
    ///
    /// - Throws: ``JournalError``.
    public func removeSettled() throws(JournalError) {
        let now = configuration.now()
        let refusal: JournalError?
        do throws(FileSystemError) {
            refusal = try state.withLock { state throws(FileSystemError) in
                if let active = state.active.take() { try? active.finish(time: now) }
                return try makeRoom(for: RecordFrame.headerByteCount, at: now, &state)
            }
            try folder.locked { () throws(FileSystemError) in
                try Retention(folder, configuration, now: now).removeSettled()
            }
        } catch {
            throw JournalError(error, "Removing what is settled")
        }
        if let refusal { throw refusal }
        signal.raise()
    }

    // MARK: For consumers

    /// The segment that this journal writes to, and how far it is whole.
    var activeEnd: JournalPosition? { state.withLock { $0.active?.position } }

    func count(_ change: (inout JournalStatistics) -> Void) {
        state.withLock { change(&$0.statistics) }
    }
}
