internal import KeelCore

extension MigratingStorageAdapter {
    /// Migrates every stored document of the collections that have a history.
    ///
    /// Work is done in batches, and the place is remembered in the store until the run is complete, so
    /// that one that was interrupted, by a kill too, goes on where it stopped; a store that refuses
    /// Keel's own names, such as Google's, begins anew. Other tasks and processes can read and write
    /// meanwhile. Each run looks at all documents, also at those that an older app has written since
    /// the last one: run it after an update, not at every launch.
    ///
    /// - Parameter batchSize: How many documents are read and written at a time.
    /// - Returns: How many documents this run has migrated.
    /// - Throws: The store's error, with what was migrated until then; or, when all others are
    ///   migrated, the first error of a document that cannot be: ``StorageError/Code/schemaTooNew``,
    ///   ``StorageError/Code/decodingFailed`` if a step fails, ``StorageError/Code/corrupted``.
    @concurrent
    @discardableResult
    public func migrateAll(batchSize: Int = 200) async throws(StorageError) -> Int {
        var run = EagerRun()
        for collection in migrations.collections {
            try await migrate(collection, batchSize: max(1, batchSize), &run)
        }
        if let failure = run.failure { throw failure }
        return run.count
    }

    private func migrate(
        _ name: String,
        batchSize: Int,
        _ run: inout EagerRun
    ) async throws(StorageError) {
        let version = migrations.currentVersion(of: CollectionPath(name)) ?? 0
        let marker = DocumentPath("__keel_migrations__", "\(name)@\(version)")
        var place = try await progress(at: marker)
        while true {
            var query = DocumentQuery(group: name).limit(to: batchSize)
            if let place { query = query.start(after: .reference(place)) }
            var request = ReadRequest(.query(query))
            request.reportsUnreadable = true
            let result = try await upstream.read(request)
            guard case .found(let documents) = result.payload else { return }
            var migrated: [(Document, DocumentBody)] = []
            var failures = result.unreadable.map(\.error)
            for document in documents {
                do throws(StorageError) {
                    guard let body = try migrations.migrated(document) else { continue }
                    migrated.append((document, body))
                } catch {
                    failures.append(error)
                }
            }
            // A document that changed meanwhile is looked at again.
            guard try await store(migrated) else { continue }
            run.count += migrated.count
            run.failure = run.failure ?? failures.first
            place = documents.last?.path
            try await remember(place, at: marker)
            if place == nil { return }
        }
    }

    /// Stores migrated bodies, each only if its document has not changed meanwhile.
    ///
    /// - Returns: Whether all were stored.
    private func store(
        _ migrated: [(document: Document, body: DocumentBody)]
    ) async throws(StorageError) -> Bool {
        guard !migrated.isEmpty else { return true }
        let batches = migrated.map { document, body in
            WriteBatch([
                DocumentWrite(document.path, .set(body), if: .revision(document.revision))
            ])
        }
        var isComplete = true
        for result in try await upstream.commit(batches) {
            guard case .failure(let error) = result else { continue }
            // Somebody else has written; what they wrote is migrated in its turn.
            guard error.code == .conflict || error.code == .documentNotFound else { throw error }
            isComplete = false
        }
        return isComplete
    }

    /// Where an earlier run stopped; nil begins anew.
    private func progress(at marker: DocumentPath) async throws(StorageError) -> DocumentPath? {
        do throws(StorageError) {
            let result = try await upstream.read(ReadRequest(.documents([marker])))
            guard case .documents(let found) = result.payload,
                case .reference(let place)? = found.first.flatMap({ $0?["place"] })
            else { return nil }
            return place
        } catch {
            guard error.code == .invalidArgument else { throw error }
            return nil
        }
    }

    /// Remembers how far a run has come; nil is to the end.
    private func remember(
        _ place: DocumentPath?,
        at marker: DocumentPath
    ) async throws(StorageError) {
        let operation: DocumentWrite.Operation =
            place.map { .set(DocumentBody(["place": .reference($0)])) } ?? .delete
        do throws(StorageError) {
            for result in try await upstream.commit([WriteBatch([DocumentWrite(marker, operation)])]
            ) {
                _ = try result.get()
            }
        } catch {
            // A store that takes no names of Keel's own works too, without remembering.
            guard error.code == .invalidArgument else { throw error }
        }
    }
}

/// The result of a run over all documents.
private struct EagerRun {
    var count = 0
    /// Why a document could not be migrated, of the first one.
    var failure: StorageError?
}
