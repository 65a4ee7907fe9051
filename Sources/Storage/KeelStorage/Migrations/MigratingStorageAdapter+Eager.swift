internal import KeelCore
public import KeelDocuments
internal import KeelStorageAdapting

extension MigratingStorageAdapter {
    /// Migrates all stored documents of the collections that have steps.
    ///
    /// An interrupted run is continued by the next one, even if the process was killed; in a store that refuses
    /// reserved names, such as Google's, it starts again. Other tasks and processes can read and write meanwhile. Each
    /// complete run reads all documents: start it after an update, not at every launch.
    ///
    /// A document that cannot be migrated does not stop the run. The report of a continued run covers only its own
    /// part.
    ///
    /// - Parameter batchSize: The number of documents that are read and written at a time.
    /// - Returns: The report of the run. Its failures have the code `StorageError/Code/schemaTooNew`,
    ///   `StorageError/Code/decodingFailed` if a step fails, or that of a document that cannot be read.
    /// - Throws: The error of the store; documents migrated before it stay migrated.
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
                // None of the documents can be read, so the start of the next page is unknown: read further.
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
            let count = try await store(migrated)
            report.migrated += count
            // Read the page again if a document has changed meanwhile.
            guard count == migrated.count else { continue }
            for failure in failures { report.failuresByPath[failure.path] = failure }
            place = documents.last?.path
            try await remember(place, at: marker)
            if place == nil { return }
        }
    }

    /// Stores migrated bodies of documents that have not changed meanwhile, and returns their number.
    private func store(
        _ migrated: [(document: Document, body: DocumentBody)]
    ) async throws(StorageError) -> Int {
        guard !migrated.isEmpty else { return 0 }
        let batches = migrated.map { document, body in
            WriteBatch([
                DocumentWrite(document.path, .set(body), if: .revision(document.revision))
            ])
        }
        var count = 0
        for result in try await upstream.commit(batches) {
            guard case .failure(let error) = result else {
                count += 1
                continue
            }
            // Another writer was first; its state is migrated with the next read.
            guard error.code == .conflict || error.code == .documentNotFound else { throw error }
        }
        return count
    }

    /// Returns the position of an interrupted run; nil to start at the beginning.
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
            // A store that refuses reserved names works without a stored position.
            guard error.code == .invalidArgument else { throw error }
        }
    }
}

/// The result of ``MigratingStorageAdapter/migrateAll(batchSize:)``.
public struct MigrationReport: Sendable, Hashable {
    /// The number of documents that the run has migrated.
    public fileprivate(set) var migrated = 0
    /// The documents that could not be migrated, with the errors, by path.
    public var failures: [UnreadableDocument] {
        failuresByPath.values.sorted { $0.path < $1.path }
    }

    fileprivate var failuresByPath: [DocumentPath: UnreadableDocument] = [:]
}
