#if Logging

package import KeelCore
internal import Logging
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A log file that is rotated by size and time, within a total quota, and compressed.
///
/// ```swift
/// var configuration = LogFileConfiguration()
/// configuration.period = .day
/// let file = try RotatingLogFile(at: folder.appending(path: "app.log"), configuration)
/// ```
///
/// - A record is written with one call of the system before ``write(_:)`` returns: it survives the
///   end of the process, however it ends. After ``synchronize()`` it survives a power failure.
/// - A record is in one file, whole, and in one line. A line that a power failure or a full disk
///   has torn is ended before the next record.
/// - Several processes may write to one file: lines do not mix, and rotating loses none.
/// - A file that somebody removed or renamed is made again within ``lookInterval``.
/// - What cannot be written, on a full disk for example, is dropped and counted, and the next
///   record that can be written is preceded by one that says how many.
///
/// Rotated files are compressed and removed beside the callers, by one process at a time, and never
/// while another one still writes to them.
public final class RotatingLogFile: LogOutput, DirectLogOutput {
    /// How long records may go to a file that somebody has removed, in microseconds of their times.
    public static let lookInterval: Int64 = 50_000

    private let writer: Mutex<LogFileWriter>
    private let care: LogFileCare
    private let worker: LogWorker
    /// Whether a look at the rotated files is already on its way.
    private let isCareDue = Atomic(false)

    /// Opens a log file, or makes one with its folder.
    ///
    /// - Parameters:
    ///   - url: The file that is written; rotated ones lie beside it, and two hidden lock files. A
    ///     link in its place is refused, as in a folder that others write to it could lead to any file.
    ///   - configuration: When it is rotated, and what becomes of it.
    /// - Throws: ``LoggingError``.
    public convenience init(
        at url: URL,
        _ configuration: LogFileConfiguration = LogFileConfiguration()
    ) throws(LoggingError) {
        try self.init(
            at: url.path(percentEncoded: false),
            configuration,
            files: DiskFileSystem(permissions: configuration.permissions),
            worker: .background("keel.logging.files")
        )
    }

    package init(
        at path: String,
        _ configuration: LogFileConfiguration,
        files: any FileSystem,
        worker: LogWorker,
        now: (@Sendable () -> Int64)? = nil
    ) throws(LoggingError) {
        try configuration.check()
        let names = LogFileNames(path)
        guard !names.name.isEmpty, names.name != ".", names.name != ".." else {
            throw LoggingError(.invalidArgument, "A log file needs a name, not only a folder")
        }
        let now = now ?? { SystemTime.now() }
        self.worker = worker
        care = LogFileCare(names: names, configuration: configuration, files: files, now: now)
        do throws(FileSystemError) {
            try files.makeFolder(names.folder)
            writer = Mutex(try LogFileWriter(names, configuration, files, now: now()))
        } catch {
            throw LoggingError(error, "Opening the log file")
        }
        // What a process before this one has left, and limits that are new.
        beginCare()
    }

    /// What has happened so far.
    public var statistics: LogFileStatistics { writer.withLock { $0.statistics } }

    public func write(_ record: LogRecord) {
        finish(writer.withLock { $0.write(record) }, record.level)
    }

    func write(
        _ level: Logger.Level,
        at time: Int64,
        _ append: (LogFormat, inout LineBuffer) -> Bool
    ) -> Bool {
        let outcome = writer.withLock { $0.write(level, at: time, append) }
        guard let outcome else { return false }
        finish(outcome, level)
        return true
    }

    @inline(__always)
    private func finish(_ outcome: LogFileWriter.Outcome, _ level: Logger.Level) {
        switch outcome {
        case .written: break
        case .rotated: beginCare()
        case .dropped: LogMetrics.dropped(1, level, output: "file")
        }
    }

    public func synchronize() { writer.withLock { $0.synchronize() } }

    /// Begins a new file now, whatever the size of this one; an empty one stays.
    public func rotate() {
        let hasRotated = writer.withLock { $0.rotateNow() }
        if hasRotated { beginCare() }
    }

    /// Returns once all rotated files are compressed and the limits hold, as far as possible.
    ///
    /// It blocks its thread: for tests, and for the end of a program.
    public func finishCare() {
        beginCare()
        worker.finish()
    }

    private func beginCare() {
        guard care.isNeeded, !isCareDue.exchange(true, ordering: .acquiringAndReleasing) else {
            return
        }
        worker {
            self.isCareDue.store(false, ordering: .releasing)
            self.care.run()
        }
    }
}

/// What has happened to a log file since it was opened.
public struct LogFileStatistics: Sendable, Hashable {
    /// How many records were written.
    public var written = 0
    /// How many were dropped, by level.
    public var dropped = DroppedLogRecords()
    /// How often this process has begun a new file.
    public var rotations = 0
    /// How often a file was opened because somebody had removed or rotated the one before.
    public var reopenings = 0

    /// Creates counts of nothing.
    public init() {}
}

#endif
