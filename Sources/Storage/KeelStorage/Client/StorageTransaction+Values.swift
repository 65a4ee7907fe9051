public import KeelDocuments

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

    /// Replaces a document by a value.
    ///
    /// - Throws: `StorageError/Code/encodingFailed`.
    @_disfavoredOverload
    public func set(
        _ path: DocumentPath,
        _ value: some Encodable,
        if condition: WriteCondition = .none
    ) throws(StorageError) {
        try collect { batch throws(StorageError) in try batch.set(path, value, if: condition) }
    }

    /// Merges the fields that a value encodes into a document.
    ///
    /// - Throws: `StorageError/Code/encodingFailed`.
    @_disfavoredOverload
    public func merge(
        _ path: DocumentPath,
        _ value: some Encodable
    ) throws(StorageError) {
        try collect { batch throws(StorageError) in try batch.merge(path, value) }
    }

    /// Stores a value at a path that has no document.
    ///
    /// - Throws: `StorageError/Code/encodingFailed`.
    @_disfavoredOverload
    public func create(
        _ path: DocumentPath,
        _ value: some Encodable
    ) throws(StorageError) {
        try collect { batch throws(StorageError) in try batch.create(path, value) }
    }

    /// Sets the fields of an existing document that a value encodes.
    ///
    /// - Throws: `StorageError/Code/encodingFailed`.
    public func update(
        _ path: DocumentPath,
        from value: some Encodable
    ) throws(StorageError) {
        try collect { batch throws(StorageError) in try batch.update(path, from: value) }
    }
}

// Operations on values of typed collections.
extension StorageTransaction {
    /// Returns the value of a document in a collection.
    ///
    /// - Throws: `StorageError/Code/documentNotFound` if there is none, `StorageError/Code/decodingFailed`.
    @concurrent
    public func get<Documents: TypedCollection>(
        _ id: String,
        in collection: Documents
    ) async throws(StorageError) -> Documents.Item {
        try collection.decode(try await getDocument(collection.path.document(id)))
    }

    /// Returns the value of a document in a collection, or nil if there is none.
    ///
    /// - Throws: `StorageError/Code/decodingFailed`.
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

    /// Returns the values that a query finds in a collection or a collection group.
    ///
    /// - Throws: `StorageError/Code/decodingFailed` if a document does not match the type.
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

    /// Stores a value in a collection under its own id.
    ///
    /// - Returns: The path of the document.
    /// - Throws: `StorageError/Code/invalidArgument` if the value has no id, `StorageError/Code/encodingFailed`.
    @discardableResult
    public func save<Element>(
        _ element: Element,
        in collection: DocumentCollection<Element>
    ) throws(StorageError) -> DocumentPath {
        try collect { batch throws(StorageError) in try batch.save(element, in: collection) }
    }

    /// Stores a value in a collection under an id.
    ///
    /// - Throws: `StorageError/Code/encodingFailed`.
    public func save<Element>(
        _ element: Element,
        id: String,
        in collection: DocumentCollection<Element>,
        if condition: WriteCondition = .none
    ) throws(StorageError) {
        try collect { batch throws(StorageError) in
            try batch.save(element, id: id, in: collection, if: condition)
        }
    }

    /// Stores a changed value; a changed document fails the commit with `StorageError/Code/conflict`.
    ///
    /// - Throws: `StorageError/Code/encodingFailed`.
    public func save<Element>(
        _ versioned: Versioned<Element>,
        in collection: DocumentCollection<Element>
    ) throws(StorageError) {
        try collect { batch throws(StorageError) in try batch.save(versioned, in: collection) }
    }

    /// Stores a value in a collection under a new id.
    ///
    /// - Returns: The path.
    /// - Throws: `StorageError/Code/encodingFailed`.
    @discardableResult
    public func add<Element>(
        _ element: Element,
        in collection: DocumentCollection<Element>
    ) throws(StorageError) -> DocumentPath {
        try collect { batch throws(StorageError) in try batch.add(element, in: collection) }
    }

    /// Changes some fields of a value.
    public func update(
        _ id: String,
        _ changes: [FieldChange],
        in collection: some TypedCollection
    ) throws(StorageError) {
        try collect { batch throws(StorageError) in batch.update(id, changes, in: collection) }
    }

    /// Removes the value with an id.
    public func delete(
        _ id: String,
        in collection: some TypedCollection,
        if condition: WriteCondition = .none
    ) throws(StorageError) {
        try collect { batch throws(StorageError) in
            batch.delete(id, in: collection, if: condition)
        }
    }
}
