package import KeelStorage
internal import KeelStorageFirestore

/// How a document becomes a line.
package struct ExportLine: Sendable {
    /// Whether lines are plain JSON; otherwise they are of Firestore's typed form.
    package var isPlain: Bool
    /// The field of plain lines that gets the document's id.
    package var idField: FieldPath?

    package init(isPlain: Bool = false, idField: FieldPath? = nil) {
        self.isPlain = isPlain
        self.idField = idField
    }

    /// The line without its end.
    ///
    /// - Throws: `StorageError/Code/corrupted` if the document's body cannot be decoded.
    package func text(of document: Document) throws(StorageError) -> [UInt8] {
        guard isPlain else { return try DocumentJSON.typed(document) }
        var fields = try document.fields()
        if let idField, fields[idField] == nil { fields[idField] = .string(document.id) }
        return DocumentJSON.plain(.map(fields))
    }
}
