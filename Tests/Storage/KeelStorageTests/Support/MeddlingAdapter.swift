import KeelStorage
import KeelStorageAdapting
import KeelTestKit

/// Writes between the first read and the first commit.
struct MeddlingAdapter: ForwardingStorageAdapter {
    let upstream: any StorageAdapter
    private let isDue = Countdown(1)
    let meddle: @Sendable () async throws -> Void

    init(upstream: any StorageAdapter, meddle: @escaping @Sendable () async throws -> Void) {
        self.upstream = upstream
        self.meddle = meddle
    }

    func prepare(_ schema: StorageSchema) async throws(StorageError) {}
    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        if await isDue.take() { try? await meddle() }
        return try await upstream.commit(batches)
    }
}

/// Counts down to zero and below.
actor Countdown {
    private(set) var left: Int
    init(_ count: Int) { left = count }
    func take() -> Bool {
        left -= 1
        return left >= 0
    }
}
