public import KeelCore
internal import KeelJournal

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A read-only view of an analytics service's folder, for tools, whether or not the app runs.
///
/// ```swift
/// let inspection = try AnalyticsInspection(of: folder)
/// for (name, ledger) in try inspection.ledgers() { print(name, ledger.pending) }
/// ```
///
/// It changes nothing and delivers nothing, and the app can use the folder at the same time.
public struct AnalyticsInspection: Sendable {
    /// The user's decisions, by purpose.
    public let consents: [ConsentPurpose: AnalyticsConsent]
    /// Whether the user's decisions were lost, because the settings file is missing or was corrupt.
    public let hasLostSettings: Bool

    private let journal: JournalInspection

    /// Creates a view of a folder.
    ///
    /// - Parameters:
    ///   - folder: The folder of the app's ``AnalyticsService``.
    ///   - sealing: Decrypts the records, if the app encrypts them.
    /// - Throws: ``AnalyticsError``, with ``AnalyticsError/Code/notFound`` if there is no journal.
    public init(of folder: URL, sealing: (any ByteSealing)? = nil) throws(AnalyticsError) {
        try self.init(
            of: folder.path(percentEncoded: false),
            sealing: sealing,
            files: DiskFileSystem()
        )
    }

    package init(
        of path: String,
        sealing: (any ByteSealing)?,
        files: any FileSystem
    ) throws(AnalyticsError) {
        let folder = path.hasSuffix("/") ? String(path.dropLast()) : path
        journal = try AnalyticsError.mapped("Inspecting \(folder)") { () throws(JournalError) in
            try JournalInspection(of: "\(folder)/journal", sealing: sealing, files: files)
        }
        do throws(FileSystemError) {
            let settings = try SettingsFile(in: folder, files: files).peek()
            consents = settings?.consents ?? [:]
            hasLostSettings = settings?.hasLostConsents ?? true
        } catch {
            throw AnalyticsError(error, "Reading the decisions in \(folder)")
        }
    }

    /// Returns the fate of every event by the name of the destination, including former ones of the app.
    ///
    /// ``AnalyticsLedger/accepted`` is the sum of the other counts, since only the app itself counts accepted events.
    /// Interrupted deliveries count as pending.
    ///
    /// - Throws: ``AnalyticsError`` if the journal cannot be read.
    public func ledgers() throws(AnalyticsError) -> [String: AnalyticsLedger] {
        try AnalyticsError.mapped("Counting the events") { () throws(JournalError) in
            var ledgers: [String: AnalyticsLedger] = [:]
            for consumer in try journal.consumers() {
                ledgers[consumer.name] = AnalyticsLedger(
                    DeliveryNote(consumer.note),
                    consumer.counts
                )
            }
            return ledgers
        }
    }

    /// Returns the size of the journal on disk in bytes.
    ///
    /// - Throws: ``AnalyticsError`` if the journal cannot be read.
    public func byteCount() throws(AnalyticsError) -> Int {
        try AnalyticsError.mapped("Measuring the journal") { () throws(JournalError) in
            try journal.contents().bytes
        }
    }

    /// Returns a reader for the records, oldest first.
    ///
    /// - Parameter name: The destination whose pending records are read; nil reads all records on disk.
    /// - Returns: The reader.
    /// - Throws: ``AnalyticsError``, with ``AnalyticsError/Code/notFound`` if the destination is unknown.
    public func reader(pendingFor name: String? = nil) throws(AnalyticsError) -> AnalyticsReader {
        try AnalyticsError.mapped("Looking for records") { () throws(JournalError) in
            AnalyticsReader(try journal.reader(unacknowledgedBy: name))
        }
    }
}

/// Reads tracked records in order, and continues when there are more.
public struct AnalyticsReader: Sendable {
    private var records: JournalReader
    /// The number of records skipped because this version cannot decode them.
    public private(set) var skippedRecordCount = 0

    init(_ records: JournalReader) { self.records = records }

    /// Returns the next records.
    ///
    /// - Parameter count: The maximum number of records, at least 1.
    /// - Returns: The records; empty if there are no new ones yet.
    /// - Throws: ``AnalyticsError``. The next call starts at the same record.
    public mutating func read(upTo count: Int) throws(AnalyticsError) -> [AnalyticsRecord] {
        while true {
            let taken = try AnalyticsError.mapped("Reading records") { () throws(JournalError) in
                try records.read(upTo: count)
            }
            let known = taken.compactMap { try? RecordCoding.record($0.bytes) }
            skippedRecordCount += taken.count - known.count
            // An empty result must mean the end, not a batch of unreadable records.
            if !known.isEmpty || taken.isEmpty { return known }
        }
    }
}
