extension DocumentWrite {
    /// Returns a write that replaces a document's fields, or creates the document.
    ///
    /// - Throws: ``StorageError/Code/invalidArgument`` for an invalid field.
    public static func set(
        _ fields: DocumentFields,
        at path: DocumentPath,
        if condition: WriteCondition = .none
    ) throws(StorageError) -> DocumentWrite {
        try DocumentValidation.check(fields, of: path)
        return DocumentWrite(path, .set(DocumentBody(fields)), if: condition)
    }

    /// Returns a write that sets the given values and keeps the document's other fields, or creates the document.
    ///
    /// Maps are merged, but an empty map replaces the field.
    ///
    /// - Throws: ``StorageError/Code/invalidArgument`` for an invalid field.
    public static func merge(
        _ fields: DocumentFields,
        at path: DocumentPath
    ) throws(StorageError) -> DocumentWrite {
        try DocumentValidation.check(fields, of: path)
        return DocumentWrite(path, .update(leaves(of: fields, under: [])))
    }

    /// Returns a write that changes some fields of a document, by default one that exists.
    public static func update(
        _ path: DocumentPath,
        _ changes: [FieldChange],
        if condition: WriteCondition = .exists
    ) -> DocumentWrite {
        DocumentWrite(path, .update(changes), if: condition)
    }

    /// Returns a write that removes a document.
    public static func delete(
        _ path: DocumentPath,
        if condition: WriteCondition = .none
    ) -> DocumentWrite {
        DocumentWrite(path, .delete, if: condition)
    }

    /// Returns one change for each value that is not a map, and for each empty map.
    static func leaves(of fields: DocumentFields, under names: [String]) -> [FieldChange] {
        fields.flatMap { field -> [FieldChange] in
            let place = names + [field.name]
            if case .map(let inner) = field.value, !inner.isEmpty {
                return leaves(of: inner, under: place)
            }
            return [FieldChange(FieldPath(names: place), .set(field.value))]
        }
    }
}

extension DocumentWrite {
    /// Returns a write that sets top-level fields of a document, by default one that exists, and keeps the others.
    ///
    /// - Throws: ``StorageError/Code/invalidArgument`` for an invalid field.
    public static func update(
        _ path: DocumentPath,
        _ fields: DocumentFields,
        if condition: WriteCondition = .exists
    ) throws(StorageError) -> DocumentWrite {
        try DocumentValidation.check(fields, of: path)
        let changes = fields.map { FieldChange(FieldPath(names: [$0.name]), .set($0.value)) }
        return DocumentWrite(path, .update(changes), if: condition)
    }
}
