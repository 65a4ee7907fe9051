internal import KeelCore
public import KeelDocuments
internal import KeelStorageAdapting

extension DocumentCollection {
    /// Stores a value under its own id, replacing an existing document.
    ///
    /// The id is the value's `DocumentID` or, if it is `Identifiable`, its `id`, whose type must be
    /// `DocumentIDRepresentable` or `LosslessStringConvertible`. An `Identifiable` value whose id is nil gets a new id.
    ///
    /// - Returns: The path of the document.
    /// - Throws: `StorageError/Code/invalidArgument` if the value has no such id, `StorageError/Code/encodingFailed`.
    @discardableResult
    @concurrent
    public func save(_ element: Element) async throws(StorageError) -> DocumentPath {
        let write = try write(for: element)
        _ = try await client.commit(WriteBatch([write]), for: "save", on: write.path.string)
        return write.path
    }

    /// Stores a value under an id, replacing an existing document.
    ///
    /// - Throws: `StorageError/Code/encodingFailed`, or the error of a failed `condition`: see `WriteCondition`.
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

    /// Stores a changed value if its document still has the same revision.
    ///
    /// ```swift
    /// var note = try await notes.versioned.get("1")
    /// note.value.text = "Hello again"
    /// note = try await notes.save(note)
    /// ```
    ///
    /// - Returns: The value with its new revision. A `ServerTimestamp` that the store has filled in is still nil.
    /// - Throws: `StorageError/Code/conflict` if the document has changed since it was read, or no longer exists;
    ///   `StorageError/Code/invalidArgument` for a value of another collection; `StorageError/Code/encodingFailed`.
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

    /// Stores values under their own ids in consecutive atomic batches of up to 500.
    ///
    /// Values are read from the sequence as they are encoded, so of a lazy sequence, only the returned paths take
    /// memory in proportion to its length. The store receives up to ten batches or about 8 MiB at a time; other writers
    /// can write in between. If a batch fails or a value cannot be encoded, the call ends; stored batches remain.
    ///
    /// - Returns: The paths, in the order of the values.
    /// - Throws: The error of the first batch that failed, or of a value. If other batches have been stored, its effect
    ///   is `StorageError/Effect-swift.enum/unknown`, and its message contains the number of stored values.
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
    /// - Returns: The path of the document.
    /// - Throws: `StorageError/Code/encodingFailed`; `StorageError/Code/alreadyExists` if
    ///   ``StorageClient/Configuration/makeID`` returns the id of an existing document.
    @discardableResult
    @concurrent
    public func add(_ element: Element) async throws(StorageError) -> DocumentPath {
        let write = try write(element, id: client.configuration.makeID(), if: .isMissing)
        _ = try await client.commit(WriteBatch([write]), for: "add", on: write.path.string)
        return write.path
    }

    /// Changes some fields of an existing document.
    ///
    /// - Throws: `StorageError/Code/documentNotFound` if the document does not exist.
    @discardableResult
    @concurrent
    public func update(
        _ id: String,
        _ changes: [FieldChange]
    ) async throws(StorageError) -> CommitReceipt {
        try await client.updateDocument(path.document(id), changes)
    }

    /// Removes the value with an id; succeeds even if it does not exist.
    @discardableResult
    @concurrent
    public func delete(_ id: String) async throws(StorageError) -> CommitReceipt {
        try await client.deleteDocument(path.document(id))
    }

    /// Removes all documents that match a query, in consecutive atomic batches of up to 500.
    ///
    /// The paths of all these documents are in memory. If another writer changes a document meanwhile, the query runs
    /// again, and a document that no longer matches is kept. ``StorageClient/Configuration/transactions`` limits the
    /// number of attempts. Each query has the client's time limit, and so have all batches of an attempt together.
    ///
    /// - Returns: The number of removed documents.
    /// - Throws: The error of the query or batch that failed, with the effect `StorageError/Effect-swift.enum/unknown`
    ///   if other documents have been removed before; `StorageError/Code/conflict` if documents keep changing.
    @discardableResult
    @concurrent
    public func deleteAll(
        _ refine: @Sendable (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) async throws(StorageError) -> Int {
        let query = try refined(refine).select()
        let (client, path) = (client, path)
        var deleted = 0
        // Another user's query would find other documents.
        let context = StorageContext.current.repeated()
        do throws(StorageError) {
            try await withRetry(
                client.configuration.transactions,
                clock: client.configuration.clock,
                shouldRetry: { $0.code == .conflict || $0.code == .documentNotFound },
                operation: { _ async throws(StorageError) in
                    try await context.perform { () async throws(StorageError) -> Void in
                        let rest = query.without(deleted)
                        let writes = try await client.queryDocuments(rest).map {
                            DocumentWrite.delete($0.path, if: .revision($0.revision))
                        }
                        try await client.commitInBatches(
                            writes,
                            for: "deleteAll",
                            on: path.string,
                            done: &deleted
                        )
                    }
                }
            )
        } catch {
            // The error itself counts only the batches of the last attempt.
            throw error.effect == .none ? error.after(deleted) : error
        }
        return deleted
    }

    func write(for element: Element) throws(StorageError) -> DocumentWrite {
        let encoded = try encoder.encodeDocument(element)
        let own = DocumentEncoder.documentID(of: element, encoded: encoded)
        let isNew = own == nil && DocumentEncoder.hasNilID(element, encoded: encoded)
        guard let id = own ?? (isNew ? client.configuration.makeID() : nil) else {
            let problem =
                element is any Identifiable
                ? "the id of \(Element.self) is not DocumentIDRepresentable; add another one, for "
                    + "example with @DocumentID,"
                : "\(Element.self) has no id; add one, for example with @DocumentID or Identifiable,"
            throw StorageError(
                .invalidArgument,
                "\(problem) or use save(_:id:) or add(_:)",
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

extension DocumentQuery {
    /// Returns the query for the result without a number of removed documents.
    fileprivate func without(_ count: Int) -> DocumentQuery {
        with { query in
            switch query.limit {
            case .first(let limit)?: query.limit = .first(limit - count)
            case .last(let limit)?: query.limit = .last(limit - count)
            case nil: break
            }
        }
    }
}
