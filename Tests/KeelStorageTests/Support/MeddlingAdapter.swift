import KeelStorage
import KeelStorageAdapting

/// Writes between the first read and the first commit.
struct MeddlingAdapter<Upstream: StorageAdapter>: StorageAdapter {
    let upstream: Upstream
    private let isDue = Countdown(1)
    let meddle: @Sendable () async throws -> Void

    init(upstream: Upstream, meddle: @escaping @Sendable () async throws -> Void) {
        self.upstream = upstream
        self.meddle = meddle
    }

    var capabilities: StorageCapabilities { upstream.capabilities }
    func prepare(_ schema: StorageSchema) async throws(StorageError) {}
    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try await upstream.read(request)
    }
    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        try await upstream.changes(request)
    }
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
