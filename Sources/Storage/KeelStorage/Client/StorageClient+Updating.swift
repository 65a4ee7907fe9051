public import KeelDocuments

extension StorageClient {
    /// Sets fields of a document, by default an existing one, and keeps its other fields.
    ///
    /// ```swift
    /// try await storage.updateDocument("users/1", ["name": "Ann", "age": 31])
    /// ```
    ///
    /// Each value, including a map, replaces its whole field; ``mergeDocument(_:_:)-(_,DocumentFields)`` merges maps.
    /// Names are not paths: use `FieldChange` for a field within a map.
    ///
    /// - Throws: The error of a failed `condition`, by default `StorageError/Code/documentNotFound`;
    ///   `StorageError/Code/invalidArgument` if `fields` is empty.
    @discardableResult
    @concurrent
    public func updateDocument(
        _ path: DocumentPath,
        _ fields: DocumentFields,
        if condition: WriteCondition = .exists
    ) async throws(StorageError) -> CommitReceipt {
        try await write(.update(path, fields, if: condition), for: "updateDocument")
    }

    /// Sets the fields of a document, by default an existing one, that a value encodes.
    ///
    /// ```swift
    /// struct Profile: Encodable {
    ///     var name: String
    ///     var photo: String?
    /// }
    ///
    /// try await storage.updateDocument("users/1", from: Profile(name: "Ann"))
    /// ```
    ///
    /// Other fields are kept: a synthesized `Encodable` leaves out properties that are nil, here `photo`. The store
    /// fills a `ServerTimestamp` that is nil. A `DocumentID` is ignored.
    ///
    /// - Throws: The error of a failed `condition`, by default `StorageError/Code/documentNotFound`;
    ///   `StorageError/Code/encodingFailed` if the value cannot be encoded as fields;
    ///   `StorageError/Code/invalidArgument` if it encodes no field.
    @discardableResult
    @concurrent
    public func updateDocument<Value: Encodable & Sendable>(
        _ path: DocumentPath,
        from value: Value,
        encoder: DocumentEncoder = DocumentEncoder(),
        if condition: WriteCondition = .exists
    ) async throws(StorageError) -> CommitReceipt {
        try await write(
            .update(path, from: value, encoder: encoder, if: condition),
            for: "updateDocument"
        )
    }
}
