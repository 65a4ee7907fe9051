internal import KeelCore
public import KeelDocuments
public import KeelStorageAdapting

extension MigratingStorageAdapter {
    public func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        guard batches.contains(where: hasHistory) else { return try await upstream.commit(batches) }
        var results: [Result<CommitReceipt, StorageError>] = []
        // Another user must not store what this one has read.
        let context = StorageContext.current.repeated()
        // One at a time, because each is prepared on the result of the batches before it.
        for batch in batches {
            do throws(StorageError) {
                let result = try await context.perform { () async throws(StorageError) in
                    try await commit(batch)
                }
                results.append(result)
            } catch {
                // As a result, it would look like the store's judgement of the batch.
                guard batches.count > 1 else { throw error }
                results.append(.failure(error))
            }
        }
        return results
    }

    private func hasHistory(_ batch: WriteBatch) -> Bool {
        batch.writes.contains { migrations.currentVersion(of: $0.path.collection) != nil }
    }

    /// Commits a batch, again after another writer was first; throws errors of whole calls.
    private func commit(
        _ batch: WriteBatch
    ) async throws(StorageError) -> Result<CommitReceipt, StorageError> {
        var last: (batch: WriteBatch, result: Result<CommitReceipt, StorageError>)?
        while true {
            let stored = try await stored(batch)
            let prepared: WriteBatch
            do throws(StorageError) {
                prepared = try self.prepared(batch, over: stored)
            } catch {
                return .failure(error)
            }
            // Either another writer was first, or the caller's own condition does not hold.
            if let last, last.batch == prepared { return last.result }
            guard let result = try await upstream.commit([prepared]).first else {
                throw StorageError(
                    .unknown,
                    "the adapter returned no result for a batch",
                    effect: .unknown
                )
            }
            guard case .failure(let error) = result, error.isRefusedCondition else { return result }
            last = (prepared, result)
        }
    }

    private func prepared(
        _ batch: WriteBatch,
        over stored: [DocumentPath: StoredState]
    ) throws(StorageError) -> WriteBatch {
        var batch = batch
        var written: Set<DocumentPath> = []
        for (position, write) in batch.writes.enumerated() {
            switch write.operation {
            case .verify: continue
            case .delete, .replicate: written.insert(write.path)
            case .set, .update:
                // A second write finds the result of the first one, which has the current version.
                let isFirst = written.insert(write.path).inserted
                let state = isFirst ? stored[write.path] ?? .missing : .written
                batch.writes[position] = try migrations.prepared(write, over: state)
            }
        }
        return batch
    }

    private func stored(
        _ batch: WriteBatch
    ) async throws(StorageError) -> [DocumentPath: StoredState] {
        let paths = Set(
            batch.writes.map(\.path).filter { migrations.currentVersion(of: $0.collection) != nil }
        )
        guard !paths.isEmpty else { return [:] }
        var request = ReadRequest(.documents(Array(paths)))
        // An unreadable document can still be replaced.
        request.reportsUnreadable = true
        let result = try await upstream.read(request)
        guard case .documents(let documents) = result.payload else { return [:] }
        var stored: [DocumentPath: StoredState] = [:]
        for document in documents.lazy.compactMap(\.self) {
            stored[document.path] = .document(document)
        }
        for document in result.unreadable { stored[document.path] = .unreadable(document.error) }
        return stored
    }
}

enum StoredState {
    case missing
    case document(Document)
    case unreadable(StorageError)
    /// The result of an earlier write of the same batch.
    case written
}

extension DocumentMigrations {
    /// Returns the write that leaves its document at the current version, given the stored state.
    func prepared(
        _ write: DocumentWrite,
        over state: StoredState
    ) throws(StorageError) -> DocumentWrite {
        guard let version = currentVersion(of: write.path.collection) else { return write }
        var prepared = write
        switch (state, write.condition) {
        case (.missing, .none): prepared.condition = .isMissing
        case (.document(let document), .none), (.document(let document), .exists):
            prepared.condition = .revision(document.revision)
        default: break
        }
        switch (write.operation, state) {
        case (.set(let body, let transforms), _):
            if case .document(let document) = state, write.condition != .isMissing {
                try knownVersion(of: document)
            }
            let stamped = try stamped(body, in: write.path.collection)
            prepared.operation = .set(stamped, transforms: transforms)
        case (.update, .unreadable(let error)): throw error
        case (.update(let changes), .document(let document)) where write.condition.holds(document):
            if let body = try migrated(document) {
                prepared.operation = try body.changed(by: changes)
                prepared.condition = .revision(document.revision)
            } else {
                prepared.operation = .update(changes + [Self.stamp(version)])
            }
        case (.update(let changes), _):
            prepared.operation = .update(changes + [Self.stamp(version)])
        default: break
        }
        return prepared
    }

    private static func stamp(_ version: Int) -> FieldChange {
        FieldChange(versionField, .set(.integer(Int64(version))))
    }
}

extension DocumentBody {
    fileprivate func changed(
        by changes: [FieldChange]
    ) throws(StorageError) -> DocumentWrite.Operation {
        var fields = try fields()
        var transforms: [FieldTransform] = []
        for change in changes {
            switch change.action {
            case .set(let value): fields[change.field] = value
            case .remove: fields[change.field] = nil
            case .transform(let operation):
                transforms.append(FieldTransform(change.field, operation))
            }
        }
        return .set(DocumentBody(fields), transforms: transforms)
    }
}

extension WriteCondition {
    fileprivate func holds(_ document: Document) -> Bool {
        switch self {
        case .none, .exists: true
        case .isMissing: false
        case .revision(let revision): revision == document.revision
        case .updateTime(let time): time == document.updateTime
        }
    }
}

extension StorageError {
    /// Whether the store has found that a condition of the batch does not hold.
    var isRefusedCondition: Bool {
        code == .conflict || code == .alreadyExists || code == .documentNotFound
    }
}
