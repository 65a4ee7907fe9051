public import KeelDocuments

extension StorageClient {
    /// Sets some fields of a document that exists, and leaves its other fields alone.
    ///
    /// ```swift
    /// try await storage.updateDocument("users/1", ["name": "Ann", "age": 31])
    /// ```
    ///
    /// Each value replaces what its field holds, a map as a whole:
    /// ``mergeDocument(_:_:)-(_,DocumentFields)`` merges maps, and creates a document that is
    /// missing. Names are not paths: use `FieldChange` for a field inside of a map.
    ///
    /// - Parameters:
    ///   - path: Where the document is.
    ///   - fields: The new values of some of its fields.
    ///   - condition: The condition that must hold of the document before.
    /// - Returns: The receipt.
    /// - Throws: `StorageError/Code/documentNotFound` if there is no document,
    ///   `StorageError/Code/invalidArgument` where no field is named.
    @discardableResult
    @concurrent
    public func updateDocument(
        _ path: DocumentPath,
        _ fields: DocumentFields,
        if condition: WriteCondition = .exists
    ) async throws(StorageError) -> CommitReceipt {
        try await write(.update(path, fields, if: condition), for: "updateDocument")
    }

    /// Sets those fields of a document that exists which a value is encoded to.
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
    /// A field that the value does not encode stays as it is: a synthesized `Encodable` leaves out
    /// properties that are nil, here `photo`. The store fills a `ServerTimestamp` that is nil. A
    /// `DocumentID` is not looked at.
    ///
    /// - Parameters:
    ///   - path: Where the document is.
    ///   - value: The new values of some of its fields.
    ///   - encoder: How names and values are written.
    ///   - condition: The condition that must hold of the document before.
    /// - Returns: The receipt.
    /// - Throws: `StorageError/Code/documentNotFound` if there is no document,
    ///   `StorageError/Code/encodingFailed` if the value has no form as fields,
    ///   `StorageError/Code/invalidArgument` where it encodes no field.
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
