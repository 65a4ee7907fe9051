import KeelStorage
import KeelStorageAdapting
import Synchronization

/// An adapter behind which something happens between two reads.
final class MeddlingAdapter: StorageAdapter {
    private let upstream: any StorageAdapter
    private let reads = Mutex(0)
    private let after: Int
    private let meddle: @Sendable () async throws -> Void

    init(
        _ upstream: any StorageAdapter,
        afterReads count: Int,
        _ meddle: @escaping @Sendable () async throws -> Void
    ) {
        self.upstream = upstream
        after = count
        self.meddle = meddle
    }

    var capabilities: StorageCapabilities { upstream.capabilities }

    func prepare(_ schema: StorageSchema) async throws(StorageError) {
        try await upstream.prepare(schema)
    }

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        let result = try await upstream.read(request)
        let count = reads.withLock { count in
            count += 1
            return count
        }
        guard count == after else { return result }
        do {
            try await meddle()
        } catch {
            throw StorageError(.unknown, "the meddling failed", cause: error)
        }
        return result
    }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        try await upstream.commit(batches)
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        try await upstream.changes(request)
    }
}
