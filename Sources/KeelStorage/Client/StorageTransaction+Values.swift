public import KeelDocuments

// Values in place of fields.
extension StorageTransaction {
    /// Returns the document at a path as a value.
    ///
    /// - Throws: `StorageError/Code/documentNotFound`, `StorageError/Code/decodingFailed`.
    @concurrent
    public func getDocument<Value: Decodable & Sendable>(
        _ path: DocumentPath,
        as type: Value.Type
    ) async throws(StorageError) -> Value {
        try DocumentDecoder().decode(type, from: try await getDocument(path))
    }

    /// Returns the document at a path as a value, or nil if there is none.
    ///
    /// - Throws: `StorageError/Code/decodingFailed`.
    @concurrent
    public func findDocument<Value: Decodable & Sendable>(
        _ path: DocumentPath,
        as type: Value.Type
    ) async throws(StorageError) -> Value? {
        guard let document = try await findDocument(path) else { return nil }
        return try DocumentDecoder().decode(type, from: document)
    }

    /// Replaces a document by a value when the body returns.
    ///
    /// As in every write of a value, the store fills a `ServerTimestamp` that is nil.
    ///
    /// - Throws: `StorageError/Code/encodingFailed` if the value has no form as fields.
    @_disfavoredOverload
    public func set(
        _ path: DocumentPath,
        _ value: some Encodable,
        if condition: WriteCondition = .none
    ) throws(StorageError) {
        try collect { batch throws(StorageError) in try batch.set(path, value, if: condition) }
    }

    /// Sets those fields of a document that exists which a value is encoded to, when the body
    /// returns.
    ///
    /// - Throws: `StorageError/Code/encodingFailed` if the value has no form as fields.
    public func update(
        _ path: DocumentPath,
        from value: some Encodable
    ) throws(StorageError) {
        try collect { batch throws(StorageError) in try batch.update(path, from: value) }
    }
}

// Values of typed collections.
extension StorageTransaction {
    /// Returns the value of a collection with an id.
    ///
    /// - Throws: `StorageError/Code/documentNotFound` if there is none.
    @concurrent
    public func get<Documents: TypedCollection>(
        _ id: String,
        in collection: Documents
    ) async throws(StorageError) -> Documents.Item {
        try collection.decode(try await getDocument(collection.path.document(id)))
    }

    /// Returns the value of a collection with an id, or nil if there is none.
    @concurrent
    public func find<Documents: TypedCollection>(
        _ id: String,
        in collection: Documents
    ) async throws(StorageError) -> Documents.Item? {
        guard let document = try await findDocument(collection.path.document(id)) else {
            return nil
        }
        return try collection.decode(document)
    }

    /// Returns the values of a collection or a collection group that a query finds.
    @concurrent
    public func query<Documents: TypedDocuments>(
        in documents: Documents,
        _ refine: @Sendable (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) async throws(StorageError) -> [Documents.Item] {
        var items: [Documents.Item] = []
        for document in try await queryDocuments(try documents.refined(refine)) {
            items.append(try documents.decode(document))
        }
        return items
    }

    /// Stores a value of a collection under its own id when the body returns.
    ///
    /// - Returns: The path under which the value is stored.
    /// - Throws: `StorageError/Code/invalidArgument` if the value has no id,
    ///   `StorageError/Code/encodingFailed`.
    @discardableResult
    public func save<Element>(
        _ element: Element,
        in collection: DocumentCollection<Element>
    ) throws(StorageError) -> DocumentPath {
        try collect { batch throws(StorageError) in try batch.save(element, in: collection) }
    }

    /// Stores a value of a collection under an id when the body returns.
    ///
    /// - Throws: `StorageError/Code/encodingFailed`.
    public func save<Element>(
        _ element: Element,
        id: String,
        in collection: DocumentCollection<Element>
    ) throws(StorageError) {
        try collect { batch throws(StorageError) in
            try batch.save(element, id: id, in: collection)
        }
    }

    /// Stores a value in place of the version of it that was read, when the body returns.
    ///
    /// - Throws: `StorageError/Code/encodingFailed`.
    public func save<Element>(
        _ versioned: Versioned<Element>,
        in collection: DocumentCollection<Element>
    ) throws(StorageError) {
        try collect { batch throws(StorageError) in try batch.save(versioned, in: collection) }
    }

    /// Stores a value of a collection under a new id when the body returns.
    ///
    /// - Returns: The new path.
    /// - Throws: `StorageError/Code/encodingFailed`.
    @discardableResult
    public func add<Element>(
        _ element: Element,
        in collection: DocumentCollection<Element>
    ) throws(StorageError) -> DocumentPath {
        try collect { batch throws(StorageError) in try batch.add(element, in: collection) }
    }

    /// Changes some fields of a value when the body returns.
    public func update(
        _ id: String,
        _ changes: [FieldChange],
        in collection: some TypedCollection
    ) throws(StorageError) {
        try collect { batch throws(StorageError) in batch.update(id, changes, in: collection) }
    }

    /// Removes the value with an id when the body returns.
    public func delete(
        _ id: String,
        in collection: some TypedCollection
    ) throws(StorageError) {
        try collect { batch throws(StorageError) in batch.delete(id, in: collection) }
    }
}
