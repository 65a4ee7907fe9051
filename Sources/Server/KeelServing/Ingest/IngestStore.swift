import KeelStorage
internal import KeelStorageAdapting

/// Stores received records, each once.
struct IngestStore {
    enum Outcome: Hashable {
        case accepted
        /// A document with the same id exists.
        case duplicate
        /// The record violates a rule of documents.
        case rejected(String)
    }

    let adapter: any StorageAdapter
    let collection: CollectionPath

    /// The number of records, and their approximate size, per commit.
    private static let mostAtOnce = (records: 500, bytes: 4 << 20)

    /// Stores records as documents, each in a batch of its own.
    ///
    /// They are encoded and committed in groups, which limits the memory used.
    ///
    /// - Returns: The outcome of each record, in order.
    /// - Throws: Errors of the store that do not concern a single record. Some records may have been stored; a
    ///   repetition reports them as duplicates.
    func keep(
        _ records: [(id: String, fields: DocumentFields)]
    ) async throws(StorageError) -> [Outcome] {
        var outcomes = [Outcome](repeating: .accepted, count: records.count)
        var batches: [(position: Int, batch: WriteBatch)] = []
        var byteCount = 0
        for (position, record) in records.enumerated() {
            do throws(StorageError) {
                let body = DocumentBody(record.fields)
                let write = try write(record.id, body)
                batches.append((position, WriteBatch([write])))
                byteCount += body.bytes.count
            } catch {
                outcomes[position] = .rejected(error.message)
            }
            guard
                batches.count >= Self.mostAtOnce.records || byteCount >= Self.mostAtOnce.bytes
            else { continue }
            try await commit(batches, &outcomes)
            (batches, byteCount) = ([], 0)
        }
        try await commit(batches, &outcomes)
        return outcomes
    }

    private func commit(
        _ batches: [(position: Int, batch: WriteBatch)],
        _ outcomes: inout [Outcome]
    ) async throws(StorageError) {
        guard !batches.isEmpty else { return }
        let results: [Result<CommitReceipt, StorageError>]
        do throws(StorageError) {
            results = try await adapter.commit(batches.map(\.batch))
        } catch {
            throw Self.failure(error)
        }
        for ((position, _), result) in zip(batches, results) {
            guard case .failure(let error) = result else { continue }
            switch error.code {
            case .alreadyExists: outcomes[position] = .duplicate
            case .invalidArgument, .tooLarge: outcomes[position] = .rejected(error.message)
            default: throw Self.failure(error)
            }
        }
    }

    /// Returns the error of a commit that does not concern single records.
    ///
    /// Senders drop records that a server refuses with status 400, and hold all of them back after 401 and 403. The
    /// state of the store must not cause these; see ``WriteStream/failure(ofStore:)``.
    private static func failure(_ error: StorageError) -> StorageError {
        switch error.code {
        case .tooLarge, .diskFull, .timeout, .unknown: error
        case .permissionDenied where error.refusesCaller: error
        default: StorageError(.unavailable, error.message, effect: error.effect, cause: error)
        }
    }

    private func write(_ id: String, _ body: DocumentBody) throws(StorageError) -> DocumentWrite {
        let path = DocumentPath(collection, id)
        let write = DocumentWrite(path, .set(body), if: .isMissing)
        try WriteValidation.check([write])
        return write
    }
}
