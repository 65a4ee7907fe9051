/// An adapter that brings documents of older versions to the current one.
///
/// It migrates *lazily*: whatever is read arrives at the current version, and is stored so with its
/// next write. Queries and indexes see the stored form, so run ``migrateAll(batchSize:)`` after a
/// change to fields that queries compare; that is the *eager* way. A document of a later version
/// than the app knows is refused with ``StorageError/Code/schemaTooNew`` rather than damaged.
///
/// Place it directly above the adapter that keeps the documents.
public struct MigratingStorageAdapter<Upstream: StorageAdapter>: StorageAdapter {
    let upstream: Upstream
    let migrations: DocumentMigrations

    public var capabilities: StorageCapabilities { upstream.capabilities }

    public func prepare(_ schema: StorageSchema) async throws(StorageError) {
        try await upstream.prepare(schema)
    }

    public func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        var result = try await upstream.read(request)
        switch result.payload {
        case .documents(let documents):
            var current: [Document?] = []
            for document in documents {
                current.append(
                    try document.map { document throws(StorageError) in
                        try migrated(document)
                    }
                )
            }
            result.payload = .documents(current)
        case .found(let documents) where !request.isProjected:
            var current: [Document] = []
            for document in documents { current.append(try migrated(document)) }
            result.payload = .found(current)
        case .found, .values, .names: break
        }
        return result
    }

    public func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        var page = try await upstream.changes(request)
        var changes: [ChangePage.Change] = []
        for change in page.changes {
            guard case .current(let document) = change else {
                changes.append(change)
                continue
            }
            changes.append(.current(try migrated(document)))
        }
        page.changes = changes
        return page
    }

    public func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        var prepared: [WriteBatch] = []
        for batch in batches { prepared.append(try await self.prepared(batch)) }
        return try await upstream.commit(prepared)
    }

    private func migrated(_ document: Document) throws(StorageError) -> Document {
        guard let body = try migrations.migrated(document) else { return document }
        return document.with(body)
    }

    /// Marks new documents with their version, and brings those that are changed in part to the
    /// current one first.
    private func prepared(_ batch: WriteBatch) async throws(StorageError) -> WriteBatch {
        var batch = batch
        var writes: [DocumentWrite] = []
        for var write in batch.writes {
            switch write.operation {
            case .set(let body, let transforms):
                let stamped = try migrations.stamped(body, in: write.path.collection)
                write.operation = .set(stamped, transforms: transforms)
            case .update(let changes):
                guard let version = migrations.currentVersion(of: write.path.collection) else {
                    break
                }
                try await bringUpToDate(write.path)
                let stamp = FieldChange(
                    DocumentMigrations.versionField,
                    .set(.integer(Int64(version)))
                )
                write.operation = .update(changes + [stamp])
            case .delete, .verify, .replicate: break
            }
            writes.append(write)
        }
        batch.writes = writes
        return batch
    }

    private func bringUpToDate(_ path: DocumentPath) async throws(StorageError) {
        while true {
            let result = try await upstream.read(ReadRequest(.documents([path])))
            guard case .documents(let found) = result.payload, let document = found.first ?? nil,
                let body = try migrations.migrated(document)
            else { return }
            if try await store([(document, body)]) { return }
        }
    }

    /// Stores migrated bodies, each only if its document has not changed meanwhile.
    ///
    /// - Returns: Whether all were stored.
    private func store(
        _ migrated: [(document: Document, body: DocumentBody)]
    ) async throws(StorageError) -> Bool {
        let batches = migrated.map { document, body in
            WriteBatch([
                DocumentWrite(document.path, .set(body), if: .revision(document.revision))
            ])
        }
        var isComplete = true
        for result in try await upstream.commit(batches) {
            guard case .failure(let error) = result else { continue }
            // Somebody else has written; what they wrote is migrated in its turn.
            guard error.code == .conflict else { throw error }
            isComplete = false
        }
        return isComplete
    }

    // MARK: The eager way

    /// Migrates every stored document of the collections that have a history.
    ///
    /// Work is done in batches, and the place is remembered in the store, so that a run that was
    /// interrupted, by a kill too, goes on where it stopped. Other tasks and processes can read and
    /// write meanwhile.
    ///
    /// - Parameter batchSize: How many documents are read and written at a time.
    /// - Returns: How many documents this run has migrated.
    /// - Throws: ``StorageError/Code/schemaTooNew``, ``StorageError/Code/decodingFailed`` if a step
    ///   fails, or the store's error; what was migrated until then stays so.
    @concurrent
    @discardableResult
    public func migrateAll(batchSize: Int = 200) async throws(StorageError) -> Int {
        var count = 0
        for collection in migrations.collections {
            count += try await migrate(collection, batchSize: max(1, batchSize))
        }
        return count
    }

    private func migrate(_ name: String, batchSize: Int) async throws(StorageError) -> Int {
        let version = migrations.currentVersion(of: CollectionPath(name)) ?? 0
        let marker = DocumentPath("__keel_migrations__", "\(name)@\(version)")
        var place = try await progress(at: marker)
        if place == .string("done") { return 0 }
        var count = 0
        while true {
            var query = DocumentQuery(group: name).limit(to: batchSize)
            if let place { query = query.start(after: place) }
            let result = try await upstream.read(ReadRequest(.query(query)))
            guard case .found(let documents) = result.payload else { return count }
            var migrated: [(Document, DocumentBody)] = []
            for document in documents {
                guard let body = try migrations.migrated(document) else { continue }
                migrated.append((document, body))
            }
            // A document that changed meanwhile is looked at again.
            guard try await store(migrated) else { continue }
            count += migrated.count
            let next: DocumentValue = documents.last.map { .reference($0.path) } ?? "done"
            let progress = DocumentWrite(marker, .set(DocumentBody(["place": next])))
            for result in try await upstream.commit([WriteBatch([progress])]) {
                _ = try result.get()
            }
            if documents.isEmpty { return count }
            place = next
        }
    }

    private func progress(at marker: DocumentPath) async throws(StorageError) -> DocumentValue? {
        let result = try await upstream.read(ReadRequest(.documents([marker])))
        guard case .documents(let found) = result.payload else { return nil }
        return found.first.flatMap { $0?["place"] }
    }
}

extension StorageAdapter {
    /// Brings documents of older versions to the current one.
    public func migrating(_ migrations: DocumentMigrations) -> MigratingStorageAdapter<Self> {
        MigratingStorageAdapter(upstream: self, migrations: migrations)
    }
}

extension Document {
    /// The same document with another body.
    func with(_ body: DocumentBody) -> Document {
        Document(
            path: path,
            body: body,
            revision: revision,
            createTime: createTime,
            updateTime: updateTime,
            hasPendingWrites: hasPendingWrites
        )
    }
}

extension ReadRequest {
    /// Whether documents arrive with some of their fields only, which no migration can work on.
    fileprivate var isProjected: Bool {
        guard case .query(let query) = operation else { return false }
        return query.projection != nil
    }
}
