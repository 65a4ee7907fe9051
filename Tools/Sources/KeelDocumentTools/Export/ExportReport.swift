package import KeelStorage

/// The result of an export.
package struct ExportReport: Hashable, Sendable {
    /// Whether the exported state is that of one time.
    package enum Consistency: String, Hashable, Sendable {
        /// Nothing changed during the export, or the changes were applied.
        case snapshot
        /// Documents changed during the export; each may be exported in its old or new state.
        case mixed
        /// Unknown, because the store has no change log, or the log was too short.
        case unknown
    }

    package var documents = 0
    /// The number of documents that changed during the export.
    package var changed = 0
    /// The consistency of the exported state.
    package var consistency = Consistency.unknown
    /// The documents that cannot be read, by path; all others were exported.
    ///
    /// A document that became unreadable during the export is exported in the state read before.
    package var unreadable: [DocumentPath: UnreadableDocument] = [:]

    /// Creates an empty report.
    package init() {}

    /// Returns the line of a document, and records a document that cannot be decoded.
    ///
    /// - Returns: The line; nil if the document cannot be decoded.
    package mutating func line(_ line: ExportLine, of document: Document) -> [UInt8]? {
        do throws(StorageError) {
            return try line.text(of: document)
        } catch {
            note([UnreadableDocument(document.path, error)])
            return nil
        }
    }

    /// Records documents that cannot be read.
    package mutating func note(_ documents: some Sequence<UnreadableDocument>) {
        for document in documents { unreadable[document.path] = document }
    }
}
