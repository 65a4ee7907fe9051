import KeelStorage
import KeelStorageAdapting
import Synchronization

/// An adapter that forwards the calls that it does not change.
protocol ForwardingAdapter: StorageAdapter { var upstream: any StorageAdapter { get } }

extension ForwardingAdapter {
    var capabilities: StorageCapabilities { upstream.capabilities }

    func prepare(_ schema: StorageSchema) async throws(StorageError) {
        try await upstream.prepare(schema)
    }

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try await upstream.read(request)
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

/// A store in which some documents cannot be read.
///
/// Like a migrating adapter it leaves them out of as many documents as are asked for.
final class DamagedAdapter: ForwardingAdapter {
    let upstream: any StorageAdapter
    private let hidden: StorageCapabilities
    private let damaged: Mutex<Set<DocumentPath>>

    init(
        _ upstream: any StorageAdapter,
        _ damaged: Set<DocumentPath>,
        without hidden: StorageCapabilities = []
    ) {
        self.upstream = upstream
        self.hidden = hidden
        self.damaged = Mutex(damaged)
    }

    /// Makes these the only documents that cannot be read.
    func damage(_ paths: Set<DocumentPath>) { damaged.withLock { $0 = paths } }

    private func failure(_ path: DocumentPath) -> UnreadableDocument? {
        guard damaged.withLock({ $0.contains(path) }) else { return nil }
        return UnreadableDocument(path, StorageError(.corrupted, "the key does not fit"))
    }

    var capabilities: StorageCapabilities { upstream.capabilities.subtracting(hidden) }

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        var result = try await upstream.read(request)
        if case .found(let documents) = result.payload {
            result.unreadable = documents.compactMap { failure($0.path) }
            result.payload = .found(documents.filter { failure($0.path) == nil })
        }
        if let first = result.unreadable.first, !request.reportsUnreadable { throw first.error }
        return result
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        var page = try await upstream.changes(request)
        page.changes = page.changes.map { change in
            guard case .current(let document) = change else { return change }
            return failure(document.path).map(ChangePage.Change.unreadable) ?? change
        }
        return page
    }
}
