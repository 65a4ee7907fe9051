import KeelStorage

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

    /// Stores records as documents, each in a batch of its own, so that one that cannot be kept is in
    /// nobody's way.
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
        for (position, record) in records.enumerated() {
            do throws(StorageError) {
                batches.append((position, WriteBatch([try write(record.id, record.fields)])))
            } catch {
                outcomes[position] = .rejected(error.message)
            }
        }
        guard !batches.isEmpty else { return outcomes }
        let results = try await adapter.commit(batches.map(\.batch))
        for ((position, _), result) in zip(batches, results) {
            guard case .failure(let error) = result else { continue }
            switch error.code {
            case .alreadyExists: outcomes[position] = .duplicate
            case .invalidArgument, .tooLarge: outcomes[position] = .rejected(error.message)
            default: throw error
            }
        }
        return outcomes
    }

    private func write(
        _ id: String,
        _ fields: DocumentFields
    ) throws(StorageError) -> DocumentWrite {
        let path = DocumentPath(collection, id)
        let write = DocumentWrite(path, .set(DocumentBody(fields)), if: .isMissing)
        try WriteValidation.check([write])
        return write
    }
}
