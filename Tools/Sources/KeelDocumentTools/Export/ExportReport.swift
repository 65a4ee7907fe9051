package import KeelStorage

/// What an export wrote.
package struct ExportReport: Hashable, Sendable {
    /// Whether what was written is the state of the store at one point in time.
    package enum Consistency: String, Hashable, Sendable {
        /// It is: either nothing changed while it was read, or the changes were worked in.
        case snapshot
        /// Documents changed while it was read, and some may be as before and some as after.
        case mixed
        /// The store keeps no change log that could tell.
        case unknown
    }

    /// How many documents were written.
    package var documents = 0
    /// How many documents changed while they were read.
    package var changed = 0
    /// Whether it is one state of the store.
    package var consistency = Consistency.unknown
    /// The documents that cannot be read, by path; all others were written.
    ///
    /// One that could be read a moment before is written as it was then.
    package var unreadable: [DocumentPath: UnreadableDocument] = [:]

    /// Creates the report of nothing.
    package init() {}

    /// Takes a document's line; one that has none is noted as unreadable.
    ///
    /// - Returns: The line, nil if the document cannot be decoded.
    package mutating func line(_ line: ExportLine, of document: Document) -> [UInt8]? {
        do throws(StorageError) {
            return try line.text(of: document)
        } catch {
            note([UnreadableDocument(document.path, error)])
            return nil
        }
    }

    /// Notes documents that cannot be read.
    package mutating func note(_ documents: some Sequence<UnreadableDocument>) {
        for document in documents { unreadable[document.path] = document }
    }
}
