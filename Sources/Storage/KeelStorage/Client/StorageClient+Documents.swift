public import KeelDocuments
internal import KeelStorageAdapting

extension StorageClient {
    // MARK: Reading

    /// Returns the document at a path.
    ///
    /// - Throws: `StorageError/Code/documentNotFound` if there is none.
    @concurrent
    public func getDocument(_ path: DocumentPath) async throws(StorageError) -> Document {
        guard let document = try await document(at: path, for: "getDocument") else {
            throw StorageError.noDocument(at: path).during("getDocument")
        }
        return document
    }

    /// Returns the document at a path, or nil if there is none.
    @concurrent
    public func findDocument(_ path: DocumentPath) async throws(StorageError) -> Document? {
        try await document(at: path, for: "findDocument")
    }

    /// Returns the documents at several paths from a single snapshot, in the order of the paths.
    ///
    /// Over Firestore's protocol, more than 300 documents take several requests, which read a single snapshot only if
    /// the server supports reads of the past, as Google's server and `keel serve` with a history do.
    @concurrent
    public func findDocuments(
        _ paths: [DocumentPath]
    ) async throws(StorageError) -> [Document?] {
        try check(paths, for: "findDocuments")
        let result = try await read(ReadRequest(.documents(paths)), for: "findDocuments")
        guard case .documents(let documents) = result.payload else { return [] }
        return documents
    }

    private func document(
        at path: DocumentPath,
        for operation: String
    ) async throws(StorageError) -> Document? {
        let paths = [path]
        try check(paths, for: operation)
        let request = ReadRequest(.documents(paths))
        let result = try await read(request, for: operation, on: path.string)
        guard case .documents(let documents) = result.payload else { return nil }
        return documents.first ?? nil
    }

    func check(_ paths: [DocumentPath], for operation: String) throws(StorageError) {
        do throws(StorageError) {
            for path in paths { try DocumentValidation.check(path) }
        } catch {
            throw error.during(operation)
        }
    }

    // MARK: Writing

    /// Stores fields at a path, replacing the document there.
    ///
    /// - Returns: The receipt, with the new revision.
    /// - Throws: The error of a failed `condition`: see `WriteCondition`.
    @discardableResult
    @concurrent
    public func setDocument(
        _ path: DocumentPath,
        _ fields: DocumentFields,
        if condition: WriteCondition = .none
    ) async throws(StorageError) -> CommitReceipt {
        try await write(.set(fields, at: path, if: condition), for: "setDocument")
    }

    /// Stores fields at a path, keeping the other fields of an existing document.
    ///
    /// Maps are merged name by name; any other value, including an array or an empty map, replaces the field.
    @discardableResult
    @concurrent
    public func mergeDocument(
        _ path: DocumentPath,
        _ fields: DocumentFields
    ) async throws(StorageError) -> CommitReceipt {
        try await write(.merge(fields, at: path), for: "mergeDocument")
    }

    /// Creates a document with the given fields.
    ///
    /// - Throws: `StorageError/Code/alreadyExists` if the document exists.
    @discardableResult
    @concurrent
    public func createDocument(
        _ path: DocumentPath,
        _ fields: DocumentFields
    ) async throws(StorageError) -> CommitReceipt {
        try await write(.set(fields, at: path, if: .isMissing), for: "createDocument")
    }

    /// Stores fields in a collection under a new id.
    ///
    /// - Returns: The path of the new document.
    /// - Throws: `StorageError/Code/alreadyExists` if ``Configuration/makeID`` returns the id of an existing document.
    @discardableResult
    @concurrent
    public func addDocument(
        to collection: CollectionPath,
        _ fields: DocumentFields
    ) async throws(StorageError) -> DocumentPath {
        let path = DocumentPath(collection, configuration.makeID())
        try await write(.set(fields, at: path, if: .isMissing), for: "addDocument")
        return path
    }

    /// Changes some fields of an existing document.
    ///
    /// ```swift
    /// try await storage.updateDocument("notes/1", [
    ///     .set("text", to: "Hello again"), .increment("edits", by: 1), .remove("draft"),
    /// ])
    /// ```
    ///
    /// - Throws: The error of a failed `condition`, by default `StorageError/Code/documentNotFound`;
    ///   `StorageError/Code/invalidArgument` without changes.
    @discardableResult
    @concurrent
    public func updateDocument(
        _ path: DocumentPath,
        _ changes: [FieldChange],
        if condition: WriteCondition = .exists
    ) async throws(StorageError) -> CommitReceipt {
        let write = DocumentWrite.update(path, changes, if: condition)
        return try await self.write(write, for: "updateDocument")
    }

    /// Removes a document; without a condition, succeeds even if the document does not exist.
    ///
    /// - Throws: The error of a failed `condition`: see `WriteCondition`.
    @discardableResult
    @concurrent
    public func deleteDocument(
        _ path: DocumentPath,
        if condition: WriteCondition = .none
    ) async throws(StorageError) -> CommitReceipt {
        try await write(DocumentWrite(path, .delete, if: condition), for: "deleteDocument")
    }

    @discardableResult
    package func write(
        _ makeWrite: @autoclosure () throws(StorageError) -> DocumentWrite,
        for operation: String
    ) async throws(StorageError) -> CommitReceipt {
        let write: DocumentWrite
        do throws(StorageError) { write = try makeWrite() } catch { throw error.during(operation) }
        return try await commit(WriteBatch([write]), for: operation, on: write.path.string)
    }
}
