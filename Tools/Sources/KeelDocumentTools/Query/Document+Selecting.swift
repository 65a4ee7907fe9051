package import KeelStorage

extension Document {
    /// Returns the document with only some of its fields.
    ///
    /// - Throws: `StorageError/Code/corrupted` if the document cannot be decoded.
    package func selecting(_ paths: [FieldPath]) throws(StorageError) -> Document {
        let fields = try fields()
        var selected = DocumentFields()
        for path in paths where path != .documentID {
            if let value = fields[path] { selected[path] = value }
        }
        return Document(
            path: path,
            body: DocumentBody(selected),
            revision: revision,
            createTime: createTime,
            updateTime: updateTime
        )
    }
}
