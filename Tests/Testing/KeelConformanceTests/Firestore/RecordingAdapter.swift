import KeelStorage
import KeelStorageAdapting
import Synchronization

/// An adapter that records requests and returns empty results.
final class RecordingAdapter: StorageAdapter {
    private let state = Mutex<(batches: [WriteBatch], reads: [ReadOperation])>(([], []))

    var batches: [WriteBatch] { state.withLock { $0.batches } }
    var reads: [ReadOperation] { state.withLock { $0.reads } }

    var capabilities: StorageCapabilities { [] }

    func prepare(_ schema: StorageSchema) async throws(StorageError) {}

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        state.withLock { $0.reads.append(request.operation) }
        switch request.operation {
        case .documents(let paths): return ReadResult(.documents(paths.map { _ in nil }))
        default: return ReadResult(.found([]))
        }
    }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        state.withLock { $0.batches += batches }
        return batches.map { batch in
            let outcomes = batch.writes.map { _ in
                CommitReceipt.WriteOutcome(revision: nil, updateTime: nil)
            }
            return .success(
                CommitReceipt(commitTime: Timestamp(microseconds: 0), outcomes: outcomes)
            )
        }
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        throw StorageError(.unsupported, "nothing is recorded of changes")
    }
}
