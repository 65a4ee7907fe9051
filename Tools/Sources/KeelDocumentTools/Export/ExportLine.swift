package import KeelStorage
internal import KeelStorageFirestore

/// The conversion of a document into a line.
package struct ExportLine: Sendable {
    /// Whether lines are plain JSON rather than Firestore's typed form.
    package var isPlain: Bool
    /// The field of a plain line that has the document's id.
    package var idField: FieldPath?

    package init(isPlain: Bool = false, idField: FieldPath? = nil) {
        self.isPlain = isPlain
        self.idField = idField
    }

    /// Returns the line of a document, without the line break.
    ///
    /// - Throws: `StorageError/Code/corrupted` if the document's body cannot be decoded.
    package func text(of document: Document) throws(StorageError) -> [UInt8] {
        guard isPlain else { return try DocumentJSON.typed(document) }
        var fields = try document.fields()
        if let idField, fields[idField] == nil { fields[idField] = .string(document.id) }
        return DocumentJSON.plain(.map(fields))
    }
}
