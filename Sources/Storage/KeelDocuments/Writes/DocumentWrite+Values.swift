extension DocumentWrite {
    /// Returns a write that replaces a document by an encoded value, or creates the document.
    ///
    /// The store fills each ``ServerTimestamp`` that is nil.
    ///
    /// - Throws: ``StorageError/Code/encodingFailed`` if the value cannot be encoded as fields;
    ///   ``StorageError/Code/tooLarge`` beyond 1 MiB or 20 levels.
    @_disfavoredOverload
    public static func set(
        _ value: some Encodable,
        at path: DocumentPath,
        encoder: DocumentEncoder = DocumentEncoder(),
        if condition: WriteCondition = .none
    ) throws(StorageError) -> DocumentWrite {
        DocumentWrite(path, try encoder.encodeDocument(value).operation, if: condition)
    }

    /// Returns a write that merges an encoded value into a document's fields, or creates the document.
    ///
    /// Maps are merged, but an empty map replaces the field. The store fills each ``ServerTimestamp`` that is nil.
    ///
    /// - Throws: ``StorageError/Code/encodingFailed`` if the value cannot be encoded as fields;
    ///   ``StorageError/Code/tooLarge`` beyond 1 MiB or 20 levels.
    @_disfavoredOverload
    public static func merge(
        _ value: some Encodable,
        at path: DocumentPath,
        encoder: DocumentEncoder = DocumentEncoder()
    ) throws(StorageError) -> DocumentWrite {
        let encoded = try encoder.encodeDocument(value)
        let changes = leaves(of: try encoded.body.fields(), under: [])
        return DocumentWrite(path, .update(changes + encoded.transformChanges))
    }

    /// Returns a write that sets a document's top-level fields from an encoded value, and keeps the others.
    ///
    /// By default, the document must exist. The store fills each ``ServerTimestamp`` that is nil.
    ///
    /// - Throws: ``StorageError/Code/encodingFailed`` if the value cannot be encoded as fields;
    ///   ``StorageError/Code/tooLarge`` beyond 1 MiB or 20 levels.
    public static func update(
        _ path: DocumentPath,
        from value: some Encodable,
        encoder: DocumentEncoder = DocumentEncoder(),
        if condition: WriteCondition = .exists
    ) throws(StorageError) -> DocumentWrite {
        let encoded = try encoder.encodeDocument(value)
        let changes = try encoded.body.fields().map { field in
            FieldChange(FieldPath(names: [field.name]), .set(field.value))
        }
        return .update(path, changes + encoded.transformChanges, if: condition)
    }
}

extension DocumentEncoder.EncodedDocument {
    package var operation: DocumentWrite.Operation { .set(body, transforms: transforms) }

    fileprivate var transformChanges: [FieldChange] {
        transforms.map { FieldChange($0.field, .transform($0.operation)) }
    }
}
