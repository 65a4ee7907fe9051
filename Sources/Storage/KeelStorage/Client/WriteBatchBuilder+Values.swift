public import KeelDocuments

extension WriteBatchBuilder {
    /// Replaces a document by a value.
    ///
    /// The store fills a `ServerTimestamp` that is nil.
    ///
    /// - Throws: `StorageError/Code/encodingFailed`.
    @_disfavoredOverload
    public mutating func set(
        _ path: DocumentPath,
        _ value: some Encodable,
        if condition: WriteCondition = .none
    ) throws(StorageError) {
        add(try .set(value, at: path, if: condition))
    }

    /// Merges the fields that a value encodes into a document.
    ///
    /// - Throws: `StorageError/Code/encodingFailed`.
    @_disfavoredOverload
    public mutating func merge(
        _ path: DocumentPath,
        _ value: some Encodable
    ) throws(StorageError) {
        add(try .merge(value, at: path))
    }

    /// Stores a value at a path that has no document.
    ///
    /// - Throws: `StorageError/Code/encodingFailed`.
    @_disfavoredOverload
    public mutating func create(
        _ path: DocumentPath,
        _ value: some Encodable
    ) throws(StorageError) {
        add(try .set(value, at: path, if: .isMissing))
    }

    /// Sets the fields of a document, by default an existing one, that a value encodes.
    ///
    /// - Throws: `StorageError/Code/encodingFailed`.
    public mutating func update(
        _ path: DocumentPath,
        from value: some Encodable,
        if condition: WriteCondition = .exists
    ) throws(StorageError) {
        add(try .update(path, from: value, if: condition))
    }
}

// Writes of values of typed collections.
extension WriteBatchBuilder {
    /// Stores a value in a collection under its own id, replacing the document there.
    ///
    /// - Returns: The path of the document.
    /// - Throws: `StorageError/Code/invalidArgument` if the value has no id, `StorageError/Code/encodingFailed`.
    @discardableResult
    public mutating func save<Element>(
        _ element: Element,
        in collection: DocumentCollection<Element>
    ) throws(StorageError) -> DocumentPath {
        let write = try collection.write(for: element)
        add(write)
        return write.path
    }

    /// Stores a value in a collection under an id, replacing the document there.
    ///
    /// - Throws: `StorageError/Code/encodingFailed`.
    public mutating func save<Element>(
        _ element: Element,
        id: String,
        in collection: DocumentCollection<Element>,
        if condition: WriteCondition = .none
    ) throws(StorageError) {
        add(try collection.write(element, id: id, if: condition))
    }

    /// Stores a changed value; the commit throws `StorageError/Code/conflict` if its document has changed since it was
    /// read.
    ///
    /// - Throws: `StorageError/Code/encodingFailed`.
    public mutating func save<Element>(
        _ versioned: Versioned<Element>,
        in collection: DocumentCollection<Element>
    ) throws(StorageError) {
        add(try collection.write(for: versioned))
    }

    /// Stores a value in a collection under a new id.
    ///
    /// - Returns: The path.
    /// - Throws: `StorageError/Code/encodingFailed`.
    @discardableResult
    public mutating func add<Element>(
        _ element: Element,
        in collection: DocumentCollection<Element>
    ) throws(StorageError) -> DocumentPath {
        let id = collection.client.configuration.makeID()
        let write = try collection.write(element, id: id, if: .isMissing)
        add(write)
        return write.path
    }

    /// Changes some fields of an existing document.
    public mutating func update(
        _ id: String,
        _ changes: [FieldChange],
        in collection: some TypedCollection
    ) {
        update(collection.path.document(id), changes)
    }

    /// Removes the value with an id.
    public mutating func delete(
        _ id: String,
        in collection: some TypedCollection,
        if condition: WriteCondition = .none
    ) {
        delete(collection.path.document(id), if: condition)
    }
}
