public import KeelCore
internal import KeelJournal

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A look at the folder of an analytics service, for tools, while the app runs or not.
///
/// ```swift
/// let inspection = try AnalyticsInspection(of: folder)
/// for (name, ledger) in try inspection.ledgers() { print(name, ledger.pending) }
/// ```
///
/// It changes nothing, delivers nothing, and takes no place from the app.
public struct AnalyticsInspection: Sendable {
    /// What the user decided, by purpose.
    public let consents: [ConsentPurpose: AnalyticsConsent]
    /// Whether the file of the decisions is damaged: the app will ask again.
    public let hasLostSettings: Bool

    private let journal: JournalInspection

    /// Looks at a folder.
    ///
    /// - Parameters:
    ///   - folder: The folder that the app gives its ``AnalyticsService``.
    ///   - sealing: What opens the records, where the app seals them.
    /// - Throws: ``AnalyticsError``, with ``AnalyticsError/Code/notFound`` if nothing was ever
    ///   tracked there.
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
        do throws(JournalError) {
            journal = try JournalInspection(of: "\(folder)/journal", sealing: sealing, files: files)
        } catch {
            throw AnalyticsError(error, "Looking at \(folder)")
        }
        do throws(FileSystemError) {
            let settings = try SettingsFile(in: folder, files: files).peek()
            consents = settings?.consents ?? [:]
            hasLostSettings = settings?.hasLostConsents ?? true
        } catch {
            throw AnalyticsError(error, "Reading the decisions in \(folder)")
        }
    }

    /// What became of every event, for each destination that the app has or had.
    ///
    /// ``AnalyticsLedger/accepted`` is what the others add up to: only the app itself counts what it
    /// was given. Events whose delivery was interrupted by the end of the app count as pending.
    ///
    /// - Returns: The ledgers by the names of the destinations.
    /// - Throws: ``AnalyticsError``.
    public func ledgers() throws(AnalyticsError) -> [String: AnalyticsLedger] {
        do throws(JournalError) {
            var ledgers: [String: AnalyticsLedger] = [:]
            for consumer in try journal.consumers() {
                ledgers[consumer.name] = AnalyticsLedger(
                    LaneNote(consumer.note),
                    consumer.tally
                )
            }
            return ledgers
        } catch {
            throw AnalyticsError(error, "Counting the events")
        }
    }

    /// How many bytes the journal has on the disk.
    ///
    /// - Throws: ``AnalyticsError``.
    public func byteCount() throws(AnalyticsError) -> Int {
        do throws(JournalError) {
            return try journal.contents().bytes
        } catch {
            throw AnalyticsError(error, "Measuring the journal")
        }
    }

    /// Begins to read the records, the oldest first.
    ///
    /// - Parameter name: The destination whose waiting records are meant; nil is for all that are
    ///   still on the disk.
    /// - Returns: What reads.
    /// - Throws: ``AnalyticsError``, with ``AnalyticsError/Code/notFound`` if there is no such
    ///   destination.
    public func reader(pendingFor name: String? = nil) throws(AnalyticsError) -> AnalyticsReader {
        do throws(JournalError) {
            return AnalyticsReader(try journal.reader(unsettledBy: name))
        } catch {
            throw AnalyticsError(error, "Looking for records")
        }
    }
}

/// Reads tracked records in order, and goes on when there are more.
public struct AnalyticsReader: Sendable {
    private var records: JournalReader
    /// How many records were passed over because this version does not understand them.
    public private(set) var undecodable = 0

    init(_ records: JournalReader) { self.records = records }

    /// Gives out the next records.
    ///
    /// - Parameter count: How many at most; at least 1.
    /// - Returns: The records, none if there is nothing new by now.
    /// - Throws: ``AnalyticsError``.
    public mutating func take(upTo count: Int) throws(AnalyticsError) -> [AnalyticsRecord] {
        while true {
            let taken: [JournalRecord]
            do throws(JournalError) {
                taken = try records.take(upTo: count)
            } catch {
                throw AnalyticsError(error, "Reading records")
            }
            let known = taken.compactMap { try? RecordCoding.record($0.bytes) }
            undecodable += taken.count - known.count
            // None is the end, and not what could not be read.
            if !known.isEmpty || taken.isEmpty { return known }
        }
    }
}
