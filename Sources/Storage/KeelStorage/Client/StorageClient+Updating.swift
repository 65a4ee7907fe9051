public import KeelDocuments

extension StorageClient {
    /// Sets fields of an existing document and keeps its other fields.
    ///
    /// ```swift
    /// try await storage.updateDocument("users/1", ["name": "Ann", "age": 31])
    /// ```
    ///
    /// Each value replaces its whole field, including a map. ``mergeDocument(_:_:)-(_,DocumentFields)`` merges maps
    /// instead, and creates a missing document. Names are not paths: use `FieldChange` for a field within a map.
    ///
    /// - Throws: `StorageError/Code/documentNotFound` if the document does not exist, `StorageError/Code/conflict` if
    ///   `condition` requires another revision or update time, `StorageError/Code/invalidArgument` if `fields` is
    ///   empty.
    @discardableResult
    @concurrent
    public func updateDocument(
        _ path: DocumentPath,
        _ fields: DocumentFields,
        if condition: WriteCondition = .exists
    ) async throws(StorageError) -> CommitReceipt {
        try await write(.update(path, fields, if: condition), for: "updateDocument")
    }

    /// Sets the fields of an existing document to those that a value encodes.
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
    /// Fields that the value does not encode are kept: a synthesized `Encodable` leaves out properties that are nil,
    /// here `photo`. The store fills a `ServerTimestamp` that is nil. A `DocumentID` is ignored.
    ///
    /// - Throws: `StorageError/Code/documentNotFound` if the document does not exist, `StorageError/Code/conflict` if
    ///   `condition` requires another revision or update time, `StorageError/Code/encodingFailed` if the value cannot
    ///   be encoded as fields, `StorageError/Code/invalidArgument` if the value encodes no field.
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
