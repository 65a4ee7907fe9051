package import KeelStorage

/// The result of an export.
package struct ExportReport: Hashable, Sendable {
    /// Whether the exported state is that of one time.
    package enum Consistency: String, Hashable, Sendable {
        /// Nothing changed during the export, the changes were applied, or the export is of the past.
        case snapshot
        /// Documents changed during the export; each may be exported in its old or new state.
        case mixed
        /// The store has no change log, or the log no longer has the changes.
        case unknown
    }

    package var documents = 0
    /// The number of documents that changed during the export.
    package var changed = 0
    package var consistency = Consistency.unknown
    /// The documents that cannot be read; one that became so during the export is exported in the state read before.
    package var unreadable: [DocumentPath: UnreadableDocument] = [:]

    package init() {}

    /// Returns the line of a document; nil for a document that cannot be decoded, which is recorded.
    package mutating func line(_ line: ExportLine, of document: Document) -> [UInt8]? {
        do throws(StorageError) {
            return try line.text(of: document)
        } catch {
            note([UnreadableDocument(document.path, error)])
            return nil
        }
    }

    package mutating func note(_ documents: some Sequence<UnreadableDocument>) {
        for document in documents { unreadable[document.path] = document }
    }
}
