import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import Synchronization

/// Runs a closure before each call of a store, and records the calls and their contexts.
final class StandInAdapter: ForwardingStorageAdapter {
    enum Call: Sendable {
        case read(ReadRequest)
        case commit([WriteBatch])
        case changes(ChangeRequest)
    }

    typealias Meddler = @Sendable (Call) async throws(StorageError) -> Void

    private struct State {
        var calls: [(call: Call, context: StorageContext)] = []
        var answers: [Int] = []
    }

    let capabilities: StorageCapabilities
    let upstream: any StorageAdapter
    private let meddler: Meddler
    private let state = Mutex(State())

    init(
        _ upstream: any StorageAdapter,
        _ capabilities: StorageCapabilities? = nil,
        _ meddler: @escaping Meddler = { _ in }
    ) {
        self.upstream = upstream
        self.capabilities = capabilities ?? upstream.capabilities
        self.meddler = meddler
    }

    var reads: [ReadRequest] {
        state.withLock { $0.calls }.compactMap {
            if case .read(let read) = $0.call { read } else { nil }
        }
    }
    var commits: [[WriteBatch]] {
        state.withLock { $0.calls }.compactMap {
            if case .commit(let all) = $0.call { all } else { nil }
        }
    }
    var calls: [(call: Call, context: StorageContext)] { state.withLock { $0.calls } }
    var contexts: [StorageContext] { state.withLock { $0.calls.map(\.context) } }
    /// The number of bytes of documents in each result of a query.
    var foundBytes: [Int] { state.withLock { $0.answers } }

    private func note(_ call: Call) async throws(StorageError) {
        state.withLock { $0.calls.append((call, .current)) }
        try await meddler(call)
    }

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try await note(.read(request))
        let result = try await upstream.read(request)
        if case .found(let documents) = result.payload {
            state.withLock { $0.answers.append(documents.reduce(0) { $0 + $1.body.bytes.count }) }
        }
        return result
    }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        try await note(.commit(batches))
        return try await upstream.commit(batches)
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        try await note(.changes(request))
        return try await upstream.changes(request)
    }
}
