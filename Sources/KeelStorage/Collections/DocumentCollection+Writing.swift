extension DocumentCollection {
    /// Stores a value under its own id, replacing what is there.
    ///
    /// The id is what the value's ``DocumentID`` holds, or its `id` if it is `Identifiable`. An
    /// `Identifiable` value whose id is nil gets a new one.
    ///
    /// - Returns: The path under which the value is stored.
    /// - Throws: ``StorageError/Code/invalidArgument`` if the value has no id.
    @discardableResult
    @concurrent
    public func save(_ element: Element) async throws(StorageError) -> DocumentPath {
        let write = try write(for: element)
        _ = try await client.commit(WriteBatch([write]), for: "save", on: write.path.string)
        return write.path
    }

    /// Stores a value under an id, replacing what is there.
    @discardableResult
    @concurrent
    public func save(
        _ element: Element,
        id: String,
        if condition: WriteCondition = .none
    ) async throws(StorageError) -> CommitReceipt {
        let encoded = try encoder.encodeDocument(element)
        let write = DocumentWrite(path.document(id), encoded.operation, if: condition)
        return try await client.commit(WriteBatch([write]), for: "save", on: write.path.string)
    }

    /// Stores values under their own ids, up to 500 in one atomic batch after the other.
    ///
    /// - Returns: The paths, in the order of the values.
    @discardableResult
    @concurrent
    public func saveAll(_ elements: [Element]) async throws(StorageError) -> [DocumentPath] {
        var writes: [DocumentWrite] = []
        writes.reserveCapacity(elements.count)
        for element in elements { writes.append(try write(for: element)) }
        try await client.commitInBatches(writes, for: "saveAll", on: path.string)
        return writes.map(\.path)
    }

    /// Stores a value under a new id.
    ///
    /// - Returns: The new path.
    @discardableResult
    @concurrent
    public func add(_ element: Element) async throws(StorageError) -> DocumentPath {
        let encoded = try encoder.encodeDocument(element)
        let path = path.document(client.configuration.makeID())
        let write = DocumentWrite(path, encoded.operation, if: .isMissing)
        _ = try await client.commit(WriteBatch([write]), for: "add", on: path.string)
        return path
    }

    /// Changes some fields of a value that is there.
    ///
    /// - Throws: ``StorageError/Code/documentNotFound`` if it is not.
    @discardableResult
    @concurrent
    public func update(
        _ id: String,
        _ changes: [FieldChange]
    ) async throws(StorageError) -> CommitReceipt {
        try await client.updateDocument(path.document(id), changes)
    }

    /// Removes the value with an id; a missing one is no error.
    @discardableResult
    @concurrent
    public func delete(_ id: String) async throws(StorageError) -> CommitReceipt {
        try await client.deleteDocument(path.document(id))
    }

    /// Removes everything that a query finds, up to 500 documents in one atomic batch after the
    /// other.
    ///
    /// - Returns: How many documents were removed.
    @discardableResult
    @concurrent
    public func deleteAll(
        _ refine: @Sendable (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) async throws(StorageError) -> Int {
        let found = try await client.queryDocuments(try refined(refine).select())
        let writes = found.map { DocumentWrite.delete($0.path) }
        try await client.commitInBatches(writes, for: "deleteAll", on: path.string)
        return writes.count
    }

    private func write(for element: Element) throws(StorageError) -> DocumentWrite {
        let encoded = try encoder.encodeDocument(element)
        let own = DocumentEncoder.documentID(of: element, encoded: encoded)
        let isIdentifiable = element is any Identifiable
        guard let id = own ?? (isIdentifiable ? client.configuration.makeID() : nil) else {
            throw StorageError(
                .invalidArgument,
                "\(Element.self) has no id to be stored under: give it one, for example by "
                    + "@DocumentID or Identifiable, or use save(_:id:) or add(_:)",
                operation: "save",
                resource: path.string
            )
        }
        return DocumentWrite(path.document(id), encoded.operation)
    }
}

extension DocumentEncoder.EncodedDocument {
    fileprivate var operation: DocumentWrite.Operation { .set(body, transforms: transforms) }
}

extension StorageClient {
    /// Commits writes in as few calls as the limits allow, each batch atomic by itself.
    func commitInBatches(
        _ writes: [DocumentWrite],
        for operation: String,
        on resource: String
    ) async throws(StorageError) {
        guard !writes.isEmpty else { return }
        do throws(StorageError) {
            try await preparation.run(on: adapter)
            var batches: [WriteBatch] = []
            var rest = writes[...]
            while !rest.isEmpty {
                let part = Array(rest.prefix(WriteValidation.mostWrites))
                try WriteValidation.check(part)
                batches.append(WriteBatch(part))
                rest = rest.dropFirst(part.count)
            }
            for result in try await adapter.commit(batches) { _ = try result.get() }
        } catch {
            throw error.during(operation, on: resource)
        }
    }
}
