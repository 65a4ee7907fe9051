public import KeelDocuments

// Values in place of fields.
extension WriteBatchBuilder {
    /// Replaces a document by a value.
    ///
    /// As in every write of a value, the store fills a `ServerTimestamp` that is nil.
    ///
    /// - Throws: `StorageError/Code/encodingFailed` if the value has no form as fields.
    @_disfavoredOverload
    public mutating func set(
        _ path: DocumentPath,
        _ value: some Encodable,
        if condition: WriteCondition = .none
    ) throws(StorageError) {
        add(try .set(value, at: path, if: condition))
    }

    /// Puts what a value is encoded to beside the fields that a document has.
    ///
    /// - Throws: `StorageError/Code/encodingFailed` if the value has no form as fields.
    @_disfavoredOverload
    public mutating func merge(
        _ path: DocumentPath,
        _ value: some Encodable
    ) throws(StorageError) {
        add(try .merge(value, at: path))
    }

    /// Stores a value where there is no document yet.
    ///
    /// - Throws: `StorageError/Code/encodingFailed` if the value has no form as fields.
    @_disfavoredOverload
    public mutating func create(
        _ path: DocumentPath,
        _ value: some Encodable
    ) throws(StorageError) {
        add(try .set(value, at: path, if: .isMissing))
    }

    /// Sets those fields of a document that exists which a value is encoded to.
    ///
    /// - Throws: `StorageError/Code/encodingFailed` if the value has no form as fields.
    public mutating func update(
        _ path: DocumentPath,
        from value: some Encodable,
        if condition: WriteCondition = .exists
    ) throws(StorageError) {
        add(try .update(path, from: value, if: condition))
    }
}

// Values of typed collections.
extension WriteBatchBuilder {
    /// Stores a value of a collection under its own id, replacing what is there.
    ///
    /// - Returns: The path under which the value is stored.
    /// - Throws: `StorageError/Code/invalidArgument` if the value has no id,
    ///   `StorageError/Code/encodingFailed`.
    @discardableResult
    public mutating func save<Element>(
        _ element: Element,
        in collection: DocumentCollection<Element>
    ) throws(StorageError) -> DocumentPath {
        let write = try collection.write(for: element)
        add(write)
        return write.path
    }

    /// Stores a value of a collection under an id, replacing what is there.
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

    /// Stores a value in place of the version of it that was read.
    ///
    /// The commit throws `StorageError/Code/conflict` if the document has changed since.
    ///
    /// - Throws: `StorageError/Code/encodingFailed`.
    public mutating func save<Element>(
        _ versioned: Versioned<Element>,
        in collection: DocumentCollection<Element>
    ) throws(StorageError) {
        add(try collection.write(for: versioned))
    }

    /// Stores a value of a collection under a new id.
    ///
    /// - Returns: The new path.
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

    /// Changes some fields of a value that is there.
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
