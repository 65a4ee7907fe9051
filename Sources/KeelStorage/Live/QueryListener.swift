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
    /// The position of the read that the view is based on.
    private var base: ChangeCursor?
    /// Changes taken from the mailbox that wait for the base position to be reached.
    private var pending: [DocumentPath: ChangePage.Change] = [:]
    private var isFromCache = false
    private var isFirst = true

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
            if isFirst { return try await first() }
            return try await client.capabilities.contains(.changeLog) ? follow() : poll()
        } catch {
            if error.isCancellation { return nil }
            throw error.during("listen", on: "\(query.scope)")
        }
    }

    private func first() async throws(StorageError) -> QuerySnapshot {
        if client.capabilities.contains(.changeLog) { id = client.hub.subscribe(subscription) }
        let changes = try await load()
        isFirst = false
        return snapshot(changes)
    }

    private func snapshot(_ changes: [DocumentChange]) -> QuerySnapshot {
        QuerySnapshot(documents: view.documents, changes: changes, isFromCache: isFromCache)
    }

    /// Reads the query and makes it the base that changes are applied to.
    private func load() async throws(StorageError) -> [DocumentChange] {
        while true {
            var request = ReadRequest(.query(view.readQuery))
            request.needsPosition = client.capabilities.contains(.changeLog)
            request.isStrict = client.configuration.isStrict
            let result = try await client.read(request, for: "listen")
            guard case .found(let documents) = result.payload else { return [] }
            if let position = result.position, !client.hub.activate(at: position) { continue }
            base = result.position
            isFromCache = result.isFromCache
            return view.load(documents)
        }
    }

    private func follow() async throws(StorageError) -> QuerySnapshot? {
        while true {
            switch await subscription.next() {
            case .cancelled: return nil
            case .failure(let error): throw error
            case .reset:
                pending = [:]
                let changes = try await load()
                if !changes.isEmpty { return snapshot(changes) }
            case .changes(let changes, let position, let isFromCache):
                pending.merge(changes) { _, new in new }
                // What came before the base was read may be older than what was read.
                if let base, position < base {
                    guard let id, client.hub.hasReached(base, for: id) else { continue }
                }
                let becameCurrent = self.isFromCache != isFromCache
                self.isFromCache = isFromCache
                let steps = try await apply()
                if !steps.isEmpty || becameCurrent { return snapshot(steps) }
            }
        }
    }

    private func apply() async throws(StorageError) -> [DocumentChange] {
        // In the order of paths, so that the same changes give the same steps.
        let changes = pending.values.sorted { $0.path < $1.path }
        pending = [:]
        switch view.apply(changes) {
        case .unchanged: return []
        case .changed(let steps): return steps
        case .needsRead: return try await load()
        }
    }

    /// For adapters without a change log: asks again at intervals and compares.
    private func poll() async throws(StorageError) -> QuerySnapshot? {
        while true {
            let interval = client.configuration.pollInterval
            guard (try? await client.configuration.clock.sleep(for: interval)) != nil else {
                return nil
            }
            // What is past stays as it was, also once the history has forgotten it.
            if client.isOfThePast { continue }
            let changes = try await load()
            if !changes.isEmpty { return snapshot(changes) }
        }
    }
}
