import KeelStorage
import KeelStorageAdapting
import Synchronization

/// An adapter behind which something happens once, after a read or before a commit.
final class MeddlingAdapter: ForwardingAdapter {
    let upstream: any StorageAdapter
    private let reads = Mutex(0)
    private let commits = Mutex(0)
    private let after: Int?
    private let before: Int?
    private let meddle: @Sendable () async throws -> Void

    init(
        _ upstream: any StorageAdapter,
        afterReads count: Int? = nil,
        beforeCommit number: Int? = nil,
        _ meddle: @escaping @Sendable () async throws -> Void
    ) {
        self.upstream = upstream
        after = count
        before = number
        self.meddle = meddle
    }

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        let result = try await upstream.read(request)
        let count = reads.withLock { count in
            count += 1
            return count
        }
        if count == after { try await act() }
        return result
    }

    private func act() async throws(StorageError) {
        do {
            try await meddle()
        } catch { throw StorageError(.unknown, "the meddling failed", cause: error) }
    }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        let number = commits.withLock { count in
            count += 1
            return count
        }
        if number == before { try await act() }
        return try await upstream.commit(batches)
    }
}
