internal import Crypto
package import KeelStorage
internal import KeelStorageFirestore

/// The conversion of a file's elements into writes, by the settings of an import.
package struct ImportRule: Sendable {
    package var collection: CollectionPath?
    package var idField: FieldPath?
    /// Whether elements are documents in Firestore's typed form.
    package var isTyped: Bool
    package var isExact: Bool

    /// Returns the write that stores an element.
    ///
    /// - Throws: `StorageError` with a description of the element's error.
    package func write(_ element: ImportElement) throws(StorageError) -> DocumentWrite {
        if let flaw = element.flaw { throw Self.flaw(flaw) }
        if isTyped { return try typedWrite(element) }
        let value = try DocumentJSON.value(plain: element.text)
        guard let fields = value.mapValue else { throw Self.flaw("it is not a JSON object") }
        guard let collection else { throw Self.flaw("no collection is given") }
        let id = try idField.map { field throws(StorageError) in try Self.id(in: fields, at: field)
        }
        return try write(fields, at: collection.document(id ?? Self.derivedID(of: element)))
    }

    private func typedWrite(_ element: ImportElement) throws(StorageError) -> DocumentWrite {
        let typed = try DocumentJSON.document(typed: element.text)
        let id = try idField.map { field throws(StorageError) in
            try Self.id(in: typed.fields, at: field)
        }
        let home = collection ?? typed.path.collection
        let path = home.document(id ?? typed.path.id)
        guard isExact else { return try write(typed.fields, at: path) }
        guard let document = typed.document else {
            throw Self.flaw("it has no createTime and updateTime to keep")
        }
        let checked = try write(typed.fields, at: path)
        let copy = Document(
            path: path,
            body: document.body,
            revision: document.revision,
            createTime: document.createTime,
            updateTime: document.updateTime
        )
        return DocumentWrite(checked.path, .replicate(copy))
    }

    private func write(
        _ fields: DocumentFields,
        at path: DocumentPath
    ) throws(StorageError) -> DocumentWrite {
        let reserved = path.string.split(separator: "/", omittingEmptySubsequences: false)
            .first { $0.utf8.count >= 4 && $0.hasPrefix("__") && $0.hasSuffix("__") }
        if let reserved { throw Self.flaw("“\(reserved)” has the reserved form “__…__”") }
        let write = try DocumentWrite.set(fields, at: path)
        if case .set(let body, _) = write.operation, body.bytes.count > DocumentBody.longest {
            throw Self.flaw("the document has more than \(DocumentBody.longest) bytes")
        }
        return write
    }

    private static func id(
        in fields: DocumentFields,
        at field: FieldPath
    ) throws(StorageError) -> String {
        let id: String
        switch fields[field] {
        case .string(let text): id = text
        case .integer(let number): id = "\(number)"
        case nil: throw flaw("the field “\(field)”, which holds the id, is missing")
        default: throw flaw("the field “\(field)” is neither a string nor an integer")
        }
        if id.isEmpty { throw flaw("the id is empty") }
        if id.utf8.count > 1500 { throw flaw("the id is longer than 1500 bytes") }
        if id.utf8.contains(UInt8(ascii: "/")) { throw flaw("the id “\(id)” contains a “/”") }
        if id == "." || id == ".." { throw flaw("the id is “.” or “..”") }
        return id
    }

    /// Returns an id derived from the element's number and text, so that a repeated import stores no line twice.
    static func derivedID(of element: ImportElement) -> String {
        var hash = SHA256()
        hash.update(data: Array("\(element.number)\n".utf8))
        hash.update(data: element.text)
        return hash.finalize().hexadecimal(bytes: 10)
    }

    private static func flaw(_ message: String) -> StorageError {
        StorageError(.invalidArgument, message)
    }
}
