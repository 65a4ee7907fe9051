internal import KeelCore
public import KeelDocuments
internal import KeelStorageAdapting

extension DocumentCollection {
    /// Stores a value under its own id, replacing what is there.
    ///
    /// The id is what the value's `DocumentID` holds, or its `id` if it is `Identifiable`. An
    /// `Identifiable` value whose id is nil gets a new one.
    ///
    /// - Returns: The path under which the value is stored.
    /// - Throws: `StorageError/Code/invalidArgument` if the value has no id.
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
        let write = try write(element, id: id, if: condition)
        return try await client.commit(WriteBatch([write]), for: "save", on: write.path.string)
    }

    /// Stores a value in place of the version of it that was read.
    ///
    /// ```swift
    /// var note = try await notes.versioned.get("1")
    /// note.value.text = "Hello again"
    /// note = try await notes.save(note)
    /// ```
    ///
    /// - Returns: The value with its new revision, to be changed and saved again. A
    ///   `ServerTimestamp` that the store has filled is nil in it still.
    /// - Throws: `StorageError/Code/conflict` if the document has changed since it was read, or is
    ///   not there any more; read it again, and decide what becomes of both.
    @discardableResult
    @concurrent
    public func save(
        _ versioned: Versioned<Element>
    ) async throws(StorageError) -> Versioned<Element> {
        let write = try write(for: versioned)
        let receipt = try await client.commit(
            WriteBatch([write]),
            for: "save",
            on: write.path.string
        )
        return versioned.saved(by: receipt)
    }

    /// Stores values under their own ids, up to 500 in one atomic batch after the other.
    ///
    /// Values are taken from the sequence and encoded as their batch comes, so that a lazy sequence of any
    /// length is stored in bounded memory, and others write between two batches. The first batch that fails
    /// is the last one that is tried: those before it are stored. So it is with a value that cannot be
    /// encoded.
    ///
    /// - Returns: The paths, in the order of the values.
    /// - Throws: The error of the batch that failed. Its effect is
    ///   `StorageError/Effect-swift.enum/unknown` where batches before it have been stored, and its
    ///   message says how many values those are.
    @discardableResult
    @concurrent
    public func saveAll(
        _ elements: some Sequence<Element> & Sendable
    ) async throws(StorageError) -> [DocumentPath] {
        var paths: [DocumentPath] = []
        paths.reserveCapacity(elements.underestimatedCount)
        var batches = WriteBatches(client, for: "saveAll", on: path.string)
        for element in elements {
            let write: DocumentWrite
            do throws(StorageError) { write = try self.write(for: element) } catch {
                throw error.after(batches.done)
            }
            paths.append(write.path)
            try await batches.add(write)
        }
        try await batches.finish()
        return paths
    }

    /// Stores a value under a new id.
    ///
    /// - Returns: The new path.
    @discardableResult
    @concurrent
    public func add(_ element: Element) async throws(StorageError) -> DocumentPath {
        let write = try write(element, id: client.configuration.makeID(), if: .isMissing)
        _ = try await client.commit(WriteBatch([write]), for: "add", on: write.path.string)
        return write.path
    }

    /// Changes some fields of a value that is there.
    ///
    /// - Throws: `StorageError/Code/documentNotFound` if it is not.
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
    /// A document is removed as it was found. One that somebody changes meanwhile is looked at again,
    /// and stays if the query does not find it any more; as often as
    /// ``StorageClient/Configuration/transactions`` says.
    ///
    /// - Returns: How many documents were removed.
    /// - Throws: The error of the batch that failed, with the effect
    ///   `StorageError/Effect-swift.enum/unknown` where others have been removed before;
    ///   `StorageError/Code/conflict` where documents keep changing.
    @discardableResult
    @concurrent
    public func deleteAll(
        _ refine: @Sendable (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) async throws(StorageError) -> Int {
        let query = try refined(refine).select()
        let (client, path) = (client, path)
        var deleted = 0
        try await withRetry(
            client.configuration.transactions,
            clock: client.configuration.clock,
            shouldRetry: { $0.code == .conflict || $0.code == .documentNotFound },
            operation: { _ async throws(StorageError) in
                let writes = try await client.queryDocuments(query).map {
                    DocumentWrite.delete($0.path, if: .revision($0.revision))
                }
                try await client.commitInBatches(
                    writes,
                    for: "deleteAll",
                    on: path.string,
                    done: &deleted
                )
            }
        )
        return deleted
    }

    /// The write that stores a value under its own id.
    func write(for element: Element) throws(StorageError) -> DocumentWrite {
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

    func write(
        _ element: Element,
        id: String,
        if condition: WriteCondition
    ) throws(StorageError) -> DocumentWrite {
        try .set(element, at: path.document(id), encoder: encoder, if: condition)
    }

    /// The write that replaces the version of a value that was read.
    func write(for versioned: Versioned<Element>) throws(StorageError) -> DocumentWrite {
        guard versioned.path.collection == path else {
            throw StorageError(
                .invalidArgument,
                "“\(versioned.path)” is not in the collection “\(path)”",
                operation: "save",
                resource: versioned.path.string
            )
        }
        return try write(
            versioned.value,
            id: versioned.id,
            if: .revision(versioned.revision)
        )
    }
}
