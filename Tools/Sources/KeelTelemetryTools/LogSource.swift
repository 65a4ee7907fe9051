package import Foundation
package import KeelCore
internal import KeelJournal
package import KeelLogging
internal import KeelLoggingOTLP
internal import KeelToolSupport

/// The records of a log: a file with its rotated files, or a journal.
package final class LogSource {
    private enum Reader {
        case file(LogFileReader)
        case journal(OTLPLogReader)
    }

    private var reader: Reader

    /// Opens a log file at `start`, or the folder of a journal at its oldest record.
    ///
    /// - Throws: `LoggingError` or `JournalError`, with the code `notFound` if there is no log; `ToolError` for a pipe
    ///   or a device.
    package init(
        _ url: URL,
        from start: LogFileReader.Start = .oldest,
        sealing: (any ByteSealing)? = nil
    ) throws {
        try SpecialFile.refuseReading(url.path)
        var isFolder: ObjCBool = false
        let isThere = FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
        reader =
            isThere && isFolder.boolValue
            ? .journal(try OTLPLogReader(JournalInspection(of: url, sealing: sealing)))
            : .file(try LogFileReader(at: url, from: start))
    }

    /// Returns the next records; empty if there are no new ones yet.
    package func read(upTo count: Int) throws -> [LogRecord] {
        switch reader {
        case .file(let file): return try file.read(upTo: count)
        case .journal(var journal):
            defer { reader = .journal(journal) }
            return try journal.read(upTo: count)
        }
    }

    /// The number of lines or records skipped because they are torn, corrupt or in another format.
    package var skippedCount: Int {
        switch reader {
        case .file(let file): file.skippedLineCount
        case .journal(let journal): journal.skippedRecordCount
        }
    }
}
