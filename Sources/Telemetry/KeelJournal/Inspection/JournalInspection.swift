public import KeelCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A read-only view of a journal that other programs write and consume, for tools.
///
/// ```swift
/// let inspection = try JournalInspection(of: folder)
/// for consumer in try inspection.consumers() { print(consumer.name, consumer.counts.pending) }
/// ```
///
/// It registers no consumer, acknowledges nothing and removes nothing. Records beyond the writer's age limit still
/// count as pending, since only the writer knows it.
public struct JournalInspection: Sendable {
    /// The stored state of a consumer.
    public struct Consumer: Hashable, Sendable {
        /// The consumer's name.
        public let name: String
        /// The counts of the journal's records.
        public let counts: ConsumerCounts
        /// The note of ``JournalConsumer/acknowledge(_:noting:)``.
        public let note: [UInt8]
    }

    /// The amount of data on disk.
    public struct Contents: Hashable, Sendable {
        /// The number of segments.
        public var segments = 0
        /// The number of records, including acknowledged ones, except erased ones.
        public var records = 0
        /// The size in bytes.
        public var bytes = 0
    }

    private let journal: Journal

    /// Creates a view of a folder.
    ///
    /// - Parameters:
    ///   - folder: The journal's folder.
    ///   - sealing: Decrypts sealed records.
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
            // Opening a journal would create the folder.
            throw JournalError(.notFound, "There is no journal in \(trimmed)")
        }
        var configuration = JournalConfiguration()
        configuration.sealing = sealing
        journal = try Journal(at: trimmed, configuration: configuration, files: files)
    }

    /// Returns the consumers in the order of their names, by scanning their pending records.
    ///
    /// - Returns: The consumers, as of one moment, except that records can be appended meanwhile.
    /// - Throws: ``JournalError`` if the journal cannot be read.
    public func consumers() throws(JournalError) -> [Consumer] {
        try JournalError.mapped("Inspecting the consumers") { () throws(FileSystemError) in
            try journal.folder.locked { () throws(FileSystemError) in
                var consumers: [Consumer] = []
                for name in try journal.folder.consumers() {
                    let cursor = try cursor(of: name) ?? CursorFile()
                    consumers.append(
                        Consumer(
                            name: name,
                            counts: try journal.counts(of: cursor, as: name),
                            note: cursor.note
                        )
                    )
                }
                return consumers
            }
        }
    }

    /// Returns the amount of data on disk.
    ///
    /// - Returns: The amount. No segment is removed meanwhile; records appended meanwhile can be missing.
    /// - Throws: ``JournalError`` if the journal cannot be read.
    public func contents() throws(JournalError) -> Contents {
        try JournalError.mapped("Inspecting the journal") { () throws(FileSystemError) in
            try journal.folder.locked { () throws(FileSystemError) in
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
        }
    }

    /// Returns a reader that starts at the oldest record.
    ///
    /// - Parameter name: The consumer whose acknowledged records are skipped; nil reads all records on disk.
    /// - Returns: The reader.
    /// - Throws: ``JournalError``, with ``JournalError/Code/notFound`` if there is no such consumer.
    public func reader(unacknowledgedBy name: String? = nil) throws(JournalError) -> JournalReader {
        guard let name else { return JournalReader(journal, [:]) }
        guard try journal.consumerNames().contains(name) else {
            throw JournalError(.notFound, "The journal has no consumer “\(name)”")
        }
        let doing = "Looking for the consumer “\(name)”"
        let stored = try JournalError.mapped(doing) { () throws(FileSystemError) in
            try cursor(of: name)
        }
        return JournalReader(journal, stored?.segments ?? [:])
    }

    private func cursor(of name: String) throws(FileSystemError) -> CursorFile? {
        try journal.folder.contents(of: name + JournalFolder.cursorSuffix).flatMap(CursorFile.init)
    }
}
