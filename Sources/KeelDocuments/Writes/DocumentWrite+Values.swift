extension DocumentWrite {
    /// A write that replaces a document by what a value is encoded to.
    ///
    /// The store fills a ``ServerTimestamp`` that is nil.
    ///
    /// - Throws: ``StorageError/Code/encodingFailed`` if the value has no form as fields.
    @_disfavoredOverload
    public static func set(
        _ value: some Encodable,
        at path: DocumentPath,
        encoder: DocumentEncoder = DocumentEncoder(),
        if condition: WriteCondition = .none
    ) throws(StorageError) -> DocumentWrite {
        DocumentWrite(path, try encoder.encodeDocument(value).operation, if: condition)
    }

    /// A write that puts what a value is encoded to beside the fields that a document has.
    ///
    /// The store fills a ``ServerTimestamp`` that is nil.
    ///
    /// - Throws: ``StorageError/Code/encodingFailed`` if the value has no form as fields.
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

    /// A write that sets those fields of a document that exists which a value is encoded to.
    ///
    /// A field that the value does not encode stays as it is. The store fills a ``ServerTimestamp``
    /// that is nil.
    ///
    /// - Throws: ``StorageError/Code/encodingFailed`` if the value has no form as fields.
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
    /// The write of the whole document.
    package var operation: DocumentWrite.Operation { .set(body, transforms: transforms) }

    /// What the store computes, as changes of fields.
    fileprivate var transformChanges: [FieldChange] {
        transforms.map { FieldChange($0.field, .transform($0.operation)) }
    }
}
