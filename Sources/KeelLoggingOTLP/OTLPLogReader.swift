#if Logging

public import KeelJournal
public import KeelLogging

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Reads the records that ``OTLPLogOutput`` keeps in a journal, the oldest first.
///
/// It takes nothing from the exporter: records that were shipped are given out as long as they are
/// on the disk. Asked again, it gives out what was logged since.
public struct OTLPLogReader: Sendable {
    /// How many records were passed over because they are not from ``OTLPLogOutput``, or from a
    /// later version.
    public private(set) var foreignRecords = 0

    private var records: JournalReader

    /// Begins to read.
    ///
    /// - Parameter inspection: The journal.
    /// - Throws: `JournalError`.
    public init(_ inspection: JournalInspection) throws(JournalError) {
        records = try inspection.reader()
    }

    /// Begins to read.
    ///
    /// - Parameter folder: The folder of the journal.
    /// - Throws: `JournalError`, with the code `notFound` if there is no journal.
    public init(at folder: URL) throws(JournalError) {
        try self.init(JournalInspection(of: folder))
    }

    /// Gives out the next records.
    ///
    /// - Parameter count: How many at most; at least 1.
    /// - Returns: The records, none if there is nothing new by now.
    /// - Throws: `JournalError`.
    public mutating func take(upTo count: Int) throws(JournalError) -> [LogRecord] {
        while true {
            let taken = try records.take(upTo: count)
            let known = taken.compactMap { StoredLogRecord($0.bytes)?.record }
            foreignRecords += taken.count - known.count
            // None is the end, and not what could not be read.
            if !known.isEmpty || taken.isEmpty { return known }
        }
    }
}

#endif
