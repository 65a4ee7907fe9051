import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport

/// A store whose commits wait until a test opens the gate.
final class SlowCommits: ForwardingStorageAdapter {
    let upstream: any StorageAdapter = InMemoryStorageAdapter(clock: TestClock())
    let gate = Gate()

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        do { try await gate.pass() } catch { throw .cancellation }
        return try await upstream.commit(batches)
    }
}
