internal import KeelCore

/// One listener to a query: reads the result once, then follows the changes.
///
/// An actor, so that sorting and comparing happen off the caller's actor; its one caller is an
/// iterator, which waits for each answer before it asks again, so no call meets another.
actor QueryListener {
    private let client: StorageClient
    private let query: DocumentQuery
    private let subscription: Subscription
    private var id: ListenerHub.ID?
    private var view: QueryView
    /// Whether the query has to be read before anything can be told; also after a read that failed.
    private var needsRead = true
    /// The position of the read that the view is based on.
    private var base: ChangeCursor?
    /// Changes taken from the mailbox that wait for the base position to be reached.
    private var pending: [DocumentPath: ChangePage.Change] = [:]
    /// The last snapshot without its documents.
    private var told: (failures: [UnreadableDocument], isFromCache: Bool)?

    init(client: StorageClient, query: DocumentQuery) {
        self.client = client
        self.query = query
        view = QueryView(query)
        switch query.scope {
        case .collection(let path): subscription = Subscription(.collection(path))
        case .group(let name, _): subscription = Subscription(.group(name))
        }
    }

    deinit {
        if let id { client.hub.unsubscribe(id) }
    }

    /// Waits for the next snapshot; nil when the task is cancelled.
    func next() async throws(StorageError) -> QuerySnapshot? {
        do throws(StorageError) {
            return try await client.capabilities.contains(.changeLog) ? follow() : poll()
        } catch {
            if error.isCancellation || Task.isCancelled { return nil }
            throw error.during("listen", on: "\(query.scope)")
        }
    }

    private func follow() async throws(StorageError) -> QuerySnapshot? {
        if id == nil { id = client.hub.subscribe(subscription) }
        while true {
            if needsRead, let snapshot = try await read() { return snapshot }
            switch await subscription.next() {
            case .cancelled: return nil
            case .failure(let error): throw error
            case .reset:
                pending = [:]
                needsRead = true
            case .changes(let changes, let position, let isFromCache):
                pending.merge(changes) { _, new in new }
                // What came before the base was read may be older than what was read.
                if let base, position < base {
                    guard let id, client.hub.hasReached(base, for: id) else { continue }
                }
                if let snapshot = apply(isFromCache: isFromCache) { return snapshot }
            }
        }
    }

    /// For adapters without a change log: asks again at intervals and compares.
    private func poll() async throws(StorageError) -> QuerySnapshot? {
        while true {
            if needsRead, let snapshot = try await read() { return snapshot }
            guard await client.waitForPoll() else { return nil }
            needsRead = true
        }
    }

    /// Reads the query and makes it the base that changes are applied to.
    private func read() async throws(StorageError) -> QuerySnapshot? {
        let result = try await client.readForListener(.query(view.readQuery), for: "listen")
        guard case .found(let documents) = result.payload else {
            throw StorageError(.unknown, "the adapter answered a query with something else")
        }
        base = result.position
        needsRead = false
        let changes = view.load(documents, unreadable: result.unreadable)
        return snapshot(changes, isFromCache: result.isFromCache)
    }

    private func apply(isFromCache: Bool) -> QuerySnapshot? {
        // In the order of paths, so that the same changes give the same steps.
        let changes = pending.values.sorted { $0.path < $1.path }
        pending = [:]
        switch view.apply(changes) {
        case .unchanged: return snapshot([], isFromCache: isFromCache)
        case .changed(let steps): return snapshot(steps, isFromCache: isFromCache)
        case .needsRead:
            needsRead = true
            return nil
        }
    }

    /// The next snapshot, nil if it would say what the last one said.
    private func snapshot(_ changes: [DocumentChange], isFromCache: Bool) -> QuerySnapshot? {
        let failures = view.failures
        if let told, changes.isEmpty, told == (failures, isFromCache) { return nil }
        told = (failures, isFromCache)
        return QuerySnapshot(
            documents: view.documents,
            changes: changes,
            failures: failures,
            isFromCache: isFromCache
        )
    }
}
