internal import KeelCore
public import KeelDocuments
internal import KeelStorageAdapting

extension MigratingStorageAdapter {
    /// Migrates every stored document of the collections that have a history.
    ///
    /// Work is done in batches, and the place is remembered in the store until the run is complete, so
    /// that one that was interrupted, by a kill too, goes on where it stopped; a store that refuses
    /// Keel's own names, such as Google's, begins anew. Other tasks and processes can read and write
    /// meanwhile. Each run looks at all documents, also at those that an older app has written since
    /// the last one: run it after an update, not at every launch.
    ///
    /// A document that cannot be migrated keeps no other one from it: the report names it. A run that
    /// goes on where another one stopped names those of its own part.
    ///
    /// - Parameter batchSize: How many documents are read and written at a time.
    /// - Returns: What the run has done. The reasons of its failures have the codes
    ///   `StorageError/Code/schemaTooNew`, `StorageError/Code/decodingFailed` if a step fails, and
    ///   `StorageError/Code/corrupted`.
    /// - Throws: The store's error; what was migrated until then stays so.
    @concurrent
    public func migrateAll(batchSize: Int = 200) async throws(StorageError) -> MigrationReport {
        var report = MigrationReport()
        for collection in migrations.collections {
            try await migrate(collection, batchSize: max(1, batchSize), &report)
        }
        return report
    }

    private func migrate(
        _ name: String,
        batchSize: Int,
        _ report: inout MigrationReport
    ) async throws(StorageError) {
        let version = migrations.currentVersion(of: CollectionPath(name)) ?? 0
        let marker = DocumentPath("__keel_migrations__", "\(name)@\(version)")
        var place = try await progress(at: marker)
        var wanted = batchSize
        while true {
            var query = DocumentQuery(group: name).limit(to: wanted)
            if let place { query = query.start(after: .reference(place)) }
            var request = ReadRequest(.query(query))
            request.reportsUnreadable = true
            let result = try await upstream.read(request)
            let documents = try result.found
            if documents.isEmpty, try result.mayHaveMore(than: wanted) {
                // All that was met cannot be read: nothing tells where the next page would begin.
                wanted *= 2
                continue
            }
            wanted = batchSize
            var migrated: [(Document, DocumentBody)] = []
            var failures = result.unreadable
            for document in documents {
                do throws(StorageError) {
                    guard let body = try migrations.migrated(document) else { continue }
                    migrated.append((document, body))
                } catch {
                    failures.append(UnreadableDocument(document.path, error))
                }
            }
            // A document that changed meanwhile is looked at again.
            guard try await store(migrated) else { continue }
            report.migrated += migrated.count
            for failure in failures { report.failuresByPath[failure.path] = failure }
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

/// What a run of ``MigratingStorageAdapter/migrateAll(batchSize:)`` has done.
public struct MigrationReport: Sendable, Hashable {
    /// How many documents the run has migrated.
    public fileprivate(set) var migrated = 0
    /// The documents that could not be migrated, with the reasons, by path.
    public var failures: [UnreadableDocument] {
        failuresByPath.values.sorted { $0.path < $1.path }
    }

    /// Several pages may meet one that cannot be read.
    fileprivate var failuresByPath: [DocumentPath: UnreadableDocument] = [:]
}
