internal import KeelCore
internal import KeelDocuments
internal import KeelStorageAdapting

/// A listener to a query, which reads the result once and then follows the changes.
///
/// It is an actor so that sorting and comparing happen off the caller's actor. Its only caller is an iterator, so calls
/// never overlap.
actor QueryListener {
    private let client: StorageClient
    private let query: DocumentQuery
    private let subscription: Subscription
    private var id: ListenerHub.ID?
    private var view: QueryView
    private var needsRead = true
    private var told: (failures: [UnreadableDocument], isFromCache: Bool)?
    private var isFromCache = false
    private var outage = ListenerOutage()
    private var followed: FollowedQuery?

    init(client: StorageClient, query: DocumentQuery) {
        self.client = client
        self.query = query
        view = QueryView(query)
        subscription = Subscription(.query(query))
        if client.followsResults { followed = FollowedQuery(query) }
    }

    deinit {
        if let id { client.hub.unsubscribe(id) }
    }

    func next() async throws(StorageError) -> QuerySnapshot? {
        do throws(StorageError) {
            if client.capabilities.contains(.changeLog) { return try await follow() }
            return try await followed == nil ? poll() : watch()
        } catch {
            if error.isCancellation || Task.isCancelled { return nil }
            throw error.during("listen", on: "\(query.scope)")
        }
    }

    private func follow() async throws(StorageError) -> QuerySnapshot? {
        if id == nil { id = client.hub.subscribe(subscription) }
        while true {
            while needsRead { if let snapshot = try await read() { return snapshot } }
            switch await subscription.next() {
            case .cancelled: return nil
            case .failure(let error): throw error
            case .reset: needsRead = true
            case .connection:
                isFromCache = subscription.isLost
                if let snapshot = snapshot([]) { return snapshot }
            case .changes(let changes, _):
                isFromCache = subscription.isLost
                if let snapshot = apply(changes) { return snapshot }
            }
        }
    }

    private func watch() async throws(StorageError) -> QuerySnapshot? {
        while var followed {
            let news = try await followed.next(client)
            if let news {
                isFromCache = if case .outage = news { true } else { false }
                let steps = followed.apply(news, to: &view)
                self.followed = followed
                if let steps, let snapshot = snapshot(steps) { return snapshot }
            } else {
                self.followed = followed
                if let snapshot = try await read() { return snapshot }
                guard await client.waitForPoll() else { return nil }
            }
        }
        return nil
    }

    private func poll() async throws(StorageError) -> QuerySnapshot? {
        while true {
            while needsRead { if let snapshot = try await read() { return snapshot } }
            guard await client.waitForPoll() else { return nil }
            needsRead = true
        }
    }

    private func read() async throws(StorageError) -> QuerySnapshot? {
        var outage = outage
        defer { self.outage = outage }
        while true {
            let attempted = try await client.readForListener(
                .query(view.readQuery),
                id,
                &outage,
                for: "listen"
            )
            isFromCache = attempted == nil
            guard let result = attempted else { return snapshot([]) }
            let documents = try result.found
            let failures = result.unreadable
            if view.readsFurther(than: documents.count, unreadable: failures.count) { continue }
            subscription.hold(until: result.position)
            needsRead = false
            return snapshot(view.load(documents, unreadable: failures))
        }
    }

    private func apply(_ changes: [DocumentPath: ChangePage.Change]) -> QuerySnapshot? {
        // Sorted by path, so that the same changes give the same steps.
        let changes = changes.values.sorted { $0.path < $1.path }
        switch view.apply(changes) {
        case .unchanged: return snapshot([])
        case .changed(let steps): return snapshot(steps)
        case .needsRead:
            needsRead = true
            return nil
        }
    }

    /// Returns the next snapshot; nil if it equals the last one, or if the query has not been read yet.
    private func snapshot(_ changes: [DocumentChange]) -> QuerySnapshot? {
        if told == nil, isFromCache { return nil }
        let failures = view.failures
        if changes.isEmpty, let told, told == (failures, isFromCache) { return nil }
        told = (failures, isFromCache)
        return QuerySnapshot(
            documents: view.documents,
            changes: changes,
            failures: failures,
            isFromCache: isFromCache
        )
    }
}
