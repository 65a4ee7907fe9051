public import KeelDocuments

extension StorageClient {
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

    /// Stores a value at a path, replacing the document there.
    ///
    /// - Throws: `StorageError/Code/encodingFailed`, or the error of a failed `condition`.
    @discardableResult
    @_disfavoredOverload
    @concurrent
    public func setDocument<Value: Encodable & Sendable>(
        _ path: DocumentPath,
        _ value: Value,
        if condition: WriteCondition = .none
    ) async throws(StorageError) -> CommitReceipt {
        try await write(.set(value, at: path, if: condition), for: "setDocument")
    }

    /// Stores a value at a path, keeping the fields of an existing document that the value does not encode.
    ///
    /// Maps are merged name by name; any other value, including an array or an empty map, replaces the field.
    ///
    /// - Throws: `StorageError/Code/encodingFailed`.
    @discardableResult
    @_disfavoredOverload
    @concurrent
    public func mergeDocument<Value: Encodable & Sendable>(
        _ path: DocumentPath,
        _ value: Value
    ) async throws(StorageError) -> CommitReceipt {
        try await write(.merge(value, at: path), for: "mergeDocument")
    }

    /// Creates a document with a value.
    ///
    /// - Throws: `StorageError/Code/alreadyExists` if there is one, `StorageError/Code/encodingFailed`.
    @discardableResult
    @_disfavoredOverload
    @concurrent
    public func createDocument<Value: Encodable & Sendable>(
        _ path: DocumentPath,
        _ value: Value
    ) async throws(StorageError) -> CommitReceipt {
        try await write(.set(value, at: path, if: .isMissing), for: "createDocument")
    }

    /// Stores a value in a collection under a new id.
    ///
    /// - Returns: The path of the new document.
    /// - Throws: `StorageError/Code/encodingFailed`; `StorageError/Code/alreadyExists` if ``Configuration/makeID``
    ///   returns the id of an existing document.
    @discardableResult
    @_disfavoredOverload
    @concurrent
    public func addDocument<Value: Encodable & Sendable>(
        to collection: CollectionPath,
        _ value: Value
    ) async throws(StorageError) -> DocumentPath {
        let path = DocumentPath(collection, configuration.makeID())
        try await write(.set(value, at: path, if: .isMissing), for: "addDocument")
        return path
    }
}
