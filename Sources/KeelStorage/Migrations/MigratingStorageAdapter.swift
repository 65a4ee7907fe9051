public import KeelDocuments
public import KeelStorageAdapting

/// An adapter that brings documents of older versions to the current one.
///
/// It migrates *lazily*: whatever is read arrives at the current version, and is stored so with its
/// next write. Queries and indexes see the stored form, so run ``migrateAll(batchSize:)`` after a
/// change to fields that queries compare; that is the *eager* way. A document of a later version
/// than the app knows is refused with `StorageError/Code/schemaTooNew` rather than damaged: it is
/// neither read nor written over, only deleted if the app asks for that.
///
/// A write to a collection with a history reads the document first, and takes effect only if it has
/// stayed so; what somebody else writes meanwhile is looked at anew. A batch remains one batch, and a
/// refused one changes nothing.
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

    /// The document at the current version; nil if it cannot be, and the request wants that reported.
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
        // Conditions see the stored form; the reader's are about the current one.
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
            updateTime: updateTime
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
