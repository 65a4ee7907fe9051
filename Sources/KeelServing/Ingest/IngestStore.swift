import KeelStorage
internal import KeelStorageAdapting

/// Keeps what was ingested, each record once.
struct IngestStore {
    /// What became of a record.
    enum Outcome: Hashable {
        case accepted
        /// There is a document of its id.
        case duplicate
        /// It breaks a rule of documents.
        case rejected(String)
    }

    let adapter: any StorageAdapter
    let collection: CollectionPath

    /// How many records, and about how many bytes of them, are committed at a time.
    private static let mostAtOnce = (records: 500, bytes: 4 << 20)

    /// Stores records as documents, each in a batch of its own, so that one that cannot be kept is in
    /// nobody's way.
    ///
    /// Some are encoded and committed at a time: what waits in memory does not grow with the request.
    ///
    /// - Parameter records: Ids and fields.
    /// - Returns: What became of each, in order.
    /// - Throws: What the store throws for another reason than a record. Records may then have been
    ///   kept; a repetition finds them as duplicates.
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
        let results = try await adapter.commit(batches.map(\.batch))
        for ((position, _), result) in zip(batches, results) {
            guard case .failure(let error) = result else { continue }
            switch error.code {
            case .alreadyExists: outcomes[position] = .duplicate
            case .invalidArgument, .tooLarge: outcomes[position] = .rejected(error.message)
            default: throw error
            }
        }
    }

    private func write(_ id: String, _ body: DocumentBody) throws(StorageError) -> DocumentWrite {
        let path = DocumentPath(collection, id)
        let write = DocumentWrite(path, .set(body), if: .isMissing)
        try WriteValidation.check([write])
        return write
    }
}
