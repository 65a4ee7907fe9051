public import KeelCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A look at a journal that others write and consume, for tools.
///
/// ```swift
/// let inspection = try JournalInspection(of: folder)
/// for consumer in try inspection.consumers() { print(consumer.name, consumer.tally.pending) }
/// ```
///
/// It takes no consumer's place, settles nothing and removes nothing. The limits of the program that
/// writes are not known here: what its age limit will cost still counts as waiting.
public struct JournalInspection: Sendable {
    /// A consumer, as its files have it.
    public struct Consumer: Hashable, Sendable {
        /// Its name.
        public let name: String
        /// What has become of the records for it.
        public let tally: ConsumerTally
        /// What it wrote down together with what it settled.
        public let note: [UInt8]
    }

    /// How much there is on the disk.
    public struct Contents: Hashable, Sendable {
        /// How many segments.
        public var segments = 0
        /// How many records, settled ones included.
        public var records = 0
        /// How many bytes.
        public var bytes = 0
    }

    private let journal: Journal

    /// Looks at a folder.
    ///
    /// - Parameters:
    ///   - folder: The journal's folder.
    ///   - sealing: What opens sealed records.
    /// - Throws: ``JournalError``, with ``JournalError/Code/notFound`` if there is no journal.
    public init(
        of folder: URL,
        sealing: (any ByteSealing)? = nil
    ) throws(JournalError) {
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
    ) throws(JournalError) {
        let trimmed = path.hasSuffix("/") ? String(path.dropLast()) : path
        let folder = JournalFolder(path: trimmed, files: files)
        guard folder.isThere else {
            // Opening a journal would make the folder.
            throw JournalError(.notFound, "There is no journal in \(trimmed)")
        }
        var configuration = JournalConfiguration()
        configuration.sealing = sealing
        journal = try Journal(at: trimmed, configuration: configuration, files: files)
    }

    /// The consumers, in order of their names.
    ///
    /// It looks at all that waits.
    ///
    /// - Returns: The consumers, as they are at one moment.
    /// - Throws: ``JournalError``.
    public func consumers() throws(JournalError) -> [Consumer] {
        do throws(FileSystemError) {
            return try journal.folder.locked { () throws(FileSystemError) in
                var consumers: [Consumer] = []
                for name in try journal.folder.consumers() {
                    let cursor = try cursor(of: name) ?? CursorFile()
                    consumers.append(
                        Consumer(
                            name: name,
                            tally: try journal.tally(of: cursor, as: name),
                            note: cursor.note
                        )
                    )
                }
                return consumers
            }
        } catch {
            throw JournalError(error, "Looking at the consumers")
        }
    }

    /// How much there is on the disk.
    ///
    /// - Returns: The counts, as they are at one moment.
    /// - Throws: ``JournalError``.
    public func contents() throws(JournalError) -> Contents {
        do throws(FileSystemError) {
            return try journal.folder.locked { () throws(FileSystemError) in
                var contents = Contents()
                for number in try journal.folder.segments() {
                    guard let survey = try SegmentSurvey(number, in: journal.folder) else {
                        continue
                    }
                    contents.segments += 1
                    contents.records += survey.recordCount
                    contents.bytes += survey.byteCount
                }
                return contents
            }
        } catch {
            throw JournalError(error, "Looking at the journal")
        }
    }

    /// Begins to read, with the oldest record that there is.
    ///
    /// - Parameter name: The consumer whose settled records are left out; nil reads all that are
    ///   still on the disk.
    /// - Returns: What reads.
    /// - Throws: ``JournalError``, with ``JournalError/Code/notFound`` if there is no such consumer.
    public func reader(unsettledBy name: String? = nil) throws(JournalError) -> JournalReader {
        guard let name else { return JournalReader(journal, [:]) }
        do throws(FileSystemError) {
            if try journal.folder.consumers().contains(name) {
                return JournalReader(journal, try cursor(of: name)?.segments ?? [:])
            }
        } catch {
            throw JournalError(error, "Looking for the consumer “\(name)”")
        }
        throw JournalError(.notFound, "The journal has no consumer “\(name)”")
    }

    private func cursor(of name: String) throws(FileSystemError) -> CursorFile? {
        try journal.folder.contents(of: name + JournalFolder.cursorSuffix).flatMap(CursorFile.init)
    }
}
