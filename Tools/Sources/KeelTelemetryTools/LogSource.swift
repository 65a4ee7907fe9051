package import Foundation
internal import KeelJournal
package import KeelLogging
internal import KeelLoggingOTLP

/// The records of a log: a file with those that were rotated out of it, or a journal.
package final class LogSource {
    private enum Reader {
        case file(LogFileReader)
        case journal(OTLPLogReader)
    }

    private var reader: Reader

    /// Opens a log.
    ///
    /// - Parameters:
    ///   - url: The file that is written, or the folder of the journal.
    ///   - start: Where to begin in files; journals are read from their oldest record.
    /// - Throws: `LoggingError` or `JournalError`.
    package init(_ url: URL, from start: LogFileReader.Start = .oldest) throws {
        var isFolder: ObjCBool = false
        let isThere = FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
        reader =
            isThere && isFolder.boolValue
            ? .journal(try OTLPLogReader(at: url)) : .file(try LogFileReader(at: url, from: start))
    }

    /// The next records, none if there is nothing new by now.
    package func take(upTo count: Int) throws -> [LogRecord] {
        switch reader {
        case .file(let file): return try file.take(upTo: count)
        case .journal(var journal):
            defer { reader = .journal(journal) }
            return try journal.take(upTo: count)
        }
    }

    /// How many lines or records were passed over because they are none of Keel's.
    package var foreignCount: Int {
        switch reader {
        case .file(let file): file.foreignLines
        case .journal(let journal): journal.foreignRecords
        }
    }
}
