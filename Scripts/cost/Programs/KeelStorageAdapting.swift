import KeelStorageAdapting

/// A store without documents.
struct EmptyStorageAdapter: StorageAdapter {
    var capabilities: StorageCapabilities { [] }

    func prepare(_ schema: StorageSchema) async throws(StorageError) {}

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        guard case .query = request.operation else {
            throw StorageError(.unsupported, "only queries are answered")
        }
        return ReadResult(.found([]))
    }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        throw StorageError(.readOnly, "nothing is kept")
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        throw StorageError(.unsupported, "there is no change log")
    }
}

let result = try await EmptyStorageAdapter().read(ReadRequest(.query(DocumentQuery("notes"))))
print(result.payload)
