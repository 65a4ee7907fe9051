#if Logging

package import KeelCore
internal import Logging
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A log file rotated by size and time, compressed, and limited in total size.
///
/// ```swift
/// var configuration = LogFileConfiguration()
/// configuration.period = .day
/// let file = try RotatingLogFile(at: folder.appending(path: "app.log"), configuration)
/// ```
///
/// - A record is written by one system call before ``write(_:)`` returns, and survives any end of the process. After
///   ``synchronize()`` it survives a power failure.
/// - A record is complete, in one file, on one line. A line torn by a power failure or a full disk is terminated before
///   the next record.
/// - Several processes can write to one file: lines do not interleave, and rotation loses none.
/// - A file that was deleted or renamed by others is recreated by the first record after ``checkInterval``.
/// - Records that cannot be written, on a full disk for example, are dropped and counted. The next record that can be
///   written is preceded by one with their number.
///
/// Rotated files are compressed and deleted in the background, by one process at a time. A file that another process
/// still writes to is not compressed yet; beyond the limits, it is deleted like any other.
public final class RotatingLogFile: LogOutput, DirectLogOutput {
    /// The longest time for which records go to a file that others have deleted, in microseconds of record time.
    public static let checkInterval: Int64 = 50_000

    private let writer: Mutex<LogFileWriter>
    private let maintenance: LogFileMaintenance
    private let worker: LogWorker
    private let isMaintenanceDue = Atomic(false)

    /// Opens a log file, creating it and its folder if needed.
    ///
    /// - Parameters:
    ///   - url: The file to write; rotated files and a few hidden files are next to it. A symbolic link is refused,
    ///     since it could lead anywhere in a folder that others can write to.
    ///   - configuration: The rotation of the file, and the retention of rotated files.
    /// - Throws: ``LoggingError``, with ``LoggingError/Code/invalidArgument`` for a link or a configuration outside of
    ///   its limits.
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
            throw LoggingError(
                .invalidArgument,
                "The path of a log file must include the file's name"
            )
        }
        let now = now ?? { SystemTime.now() }
        self.worker = worker
        maintenance = LogFileMaintenance(
            names: names,
            configuration: configuration,
            files: files,
            now: now
        )
        do throws(FileSystemError) {
            try files.makeFolder(names.folder)
            writer = Mutex(try LogFileWriter(names, configuration, files, now: now()))
        } catch {
            throw LoggingError(error, "Opening the log file")
        }
        // Handles what an earlier process has left, and changed limits.
        beginMaintenance()
    }

    /// The counts so far.
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
        case .rotated: beginMaintenance()
        case .dropped: LogMetrics.dropped(1, level, output: "file")
        }
    }

    public func synchronize() { writer.withLock { $0.synchronize() } }

    /// Starts a new file now, if possible, unless the current one is empty.
    public func rotate() {
        let hasRotated = writer.withLock { $0.rotateNow() }
        if hasRotated { beginMaintenance() }
    }

    /// Returns once all rotated files are compressed and the limits hold, as far as possible.
    ///
    /// Blocks the calling thread: for tests, and for the end of a program.
    public func waitForMaintenance() {
        // Also if it is due: the thread that begins it may not have reached the worker yet.
        if maintenance.isNeeded { worker { self.maintenance.run() } }
        worker.finish()
    }

    private func beginMaintenance() {
        guard maintenance.isNeeded,
            !isMaintenanceDue.exchange(true, ordering: .acquiringAndReleasing)
        else {
            return
        }
        worker {
            self.isMaintenanceDue.store(false, ordering: .releasing)
            self.maintenance.run()
        }
    }
}

/// Counts of a log file since it was opened.
public struct LogFileStatistics: Sendable, Hashable {
    /// The number of records written.
    public var written = 0
    /// The number of records dropped, by level.
    public var dropped = DroppedLogRecords()
    /// The number of times that this process has rotated the file.
    public var rotations = 0
    /// The number of times that the file was reopened because another process had deleted or rotated it.
    public var reopenings = 0

    /// Creates counts of zero.
    public init() {}
}
#else
/// A log file rotated by size and time; requires the trait `Logging`.
@available(*, unavailable, message: "Enable the 'Logging' trait of the keel package.")
public enum RotatingLogFile: Sendable {}
#endif
