#if Logging

public import KeelJournal
public import KeelLogging

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Reads the records that ``OTLPLogOutput`` stores in a journal, oldest first.
///
/// Reading does not affect the exporter: shipped records are returned as long as they are on disk. Later calls return
/// the records that were logged since.
public struct OTLPLogReader: Sendable {
    /// The number of records skipped as foreign, corrupt or of a later version.
    public private(set) var skippedRecordCount = 0

    private var records: JournalReader

    /// Creates a reader.
    public init(_ inspection: JournalInspection) throws(JournalError) {
        records = try inspection.reader()
    }

    /// Creates a reader for the journal in a folder.
    ///
    /// - Throws: `JournalError`, with the code `notFound` if there is no journal.
    public init(at folder: URL) throws(JournalError) {
        try self.init(JournalInspection(of: folder))
    }

    /// Returns the next records.
    ///
    /// - Parameter count: The maximum number of records, at least 1.
    /// - Returns: The records; empty if there are no new ones yet.
    /// - Throws: `JournalError`.
    public mutating func read(upTo count: Int) throws(JournalError) -> [LogRecord] {
        while true {
            let taken = try records.read(upTo: count)
            let known = taken.compactMap { StoredLogRecord($0.bytes)?.record }
            skippedRecordCount += taken.count - known.count
            // An empty result must mean the end, not a batch of unreadable records.
            if !known.isEmpty || taken.isEmpty { return known }
        }
    }
}

#endif
