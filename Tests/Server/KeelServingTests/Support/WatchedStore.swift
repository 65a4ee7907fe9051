import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import Synchronization

/// A store that records its calls, with a hook before each read.
final class WatchedStore: ForwardingStorageAdapter {
    /// Called before a read, with its number; an error it throws becomes the error of the read.
    typealias Meddler = @Sendable (Int) async throws(StorageError) -> Void

    private struct State {
        var reads: [ReadRequest] = []
        var mostFoundBytes = 0
        var examined = 0
        var commits: [[WriteBatch]] = []
    }

    let upstream: any StorageAdapter
    private let state = Mutex(State())
    private let meddler: Meddler

    init(_ upstream: any StorageAdapter, _ meddler: @escaping Meddler = { _ in }) {
        self.upstream = upstream
        self.meddler = meddler
    }

    var reads: [ReadRequest] { state.withLock { $0.reads } }
    /// The maximum number of bytes of documents that one read has returned.
    var mostFoundBytes: Int { state.withLock { $0.mostFoundBytes } }
    /// The number of documents and index entries that the reads have examined.
    var examined: Int { state.withLock { $0.examined } }
    var commits: [[WriteBatch]] { state.withLock { $0.commits } }

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        let number = state.withLock { state in
            state.reads.append(request)
            return state.reads.count
        }
        try await meddler(number)
        let result = try await upstream.read(request)
        let documents: [Document] =
            switch result.payload {
            case .found(let documents): documents
            case .documents(let documents): documents.compactMap(\.self)
            case .values, .names: []
            }
        let bytes = documents.reduce(0) { $0 + $1.body.bytes.count }
        state.withLock { state in
            state.mostFoundBytes = max(state.mostFoundBytes, bytes)
            state.examined += result.plan?.examined ?? documents.count
        }
        return result
    }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        state.withLock { $0.commits.append(batches) }
        return try await upstream.commit(batches)
    }
}
