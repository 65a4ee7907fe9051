public import KeelDocuments
public import KeelStorageAdapting

/// An adapter that migrates documents of older versions.
///
/// Migration is *lazy*: a document is read at the current version, and stored in that version with its next write.
/// Queries, indexes, aggregations and selected fields (`select`) have the stored form, so run
/// ``migrateAll(batchSize:)``, the *eager* migration, after a change to fields that they use. A document of a later
/// version than the app knows is refused with `StorageError/Code/schemaTooNew`: it can be deleted, but not read or
/// overwritten. A failed step throws `StorageError/Code/decodingFailed`.
///
/// Setting or updating a document in a collection with steps reads it first, and repeats this if it changes meanwhile.
/// A batch remains one batch.
///
/// Place it directly above the adapter that keeps the documents.
public struct MigratingStorageAdapter<Upstream: StorageAdapter>: StorageAdapter {
    let upstream: Upstream
    let migrations: DocumentMigrations

    public var capabilities: StorageCapabilities { upstream.capabilities }

    public var sharedRecords: (any SharedRecords)? { upstream.sharedRecords }

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
                    try document.flatMap { document throws(StorageError) in
                        try migrated(document, request, &result.unreadable)
                    }
                )
            }
            result.payload = .documents(current)
        case .found(let documents) where !request.isProjected:
            var current: [Document] = []
            for document in documents {
                guard let document = try migrated(document, request, &result.unreadable) else {
                    continue
                }
                current.append(document)
            }
            result.payload = .found(current)
        case .found, .values, .names: break
        }
        return result
    }

    /// Migrates a document; returns nil after reporting it as unreadable.
    private func migrated(
        _ document: Document,
        _ request: ReadRequest,
        _ unreadable: inout [UnreadableDocument]
    ) throws(StorageError) -> Document? {
        do throws(StorageError) {
            return try migrated(document)
        } catch {
            guard request.reportsUnreadable else { throw error }
            unreadable.append(UnreadableDocument(document.path, error))
            return nil
        }
    }

    public func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        var request = request
        // Conditions would see the stored form, but refer to the current one.
        request.scope = request.scope.unconditional
        var page = try await upstream.changes(request)
        page.changes = page.changes.map { change in
            guard case .current(let document) = change else { return change }
            do throws(StorageError) {
                return .current(try migrated(document))
            } catch {
                return .unreadable(UnreadableDocument(document.path, error))
            }
        }
        return page
    }

    private func migrated(_ document: Document) throws(StorageError) -> Document {
        guard let body = try migrations.migrated(document) else { return document }
        return document.with(body)
    }
}

extension StorageAdapter {
    /// Migrates documents of older versions to the current one.
    public func migrating(_ migrations: DocumentMigrations) -> MigratingStorageAdapter<Self> {
        MigratingStorageAdapter(upstream: self, migrations: migrations)
    }
}

extension ReadRequest {
    /// Whether the request reads only some fields, which migrations cannot work on.
    fileprivate var isProjected: Bool {
        guard case .query(let query) = operation else { return false }
        return query.projection != nil
    }
}
