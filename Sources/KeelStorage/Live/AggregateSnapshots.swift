internal import KeelCore
public import KeelDocuments

extension StorageClient {
    /// Observes values computed over the documents that a query finds.
    ///
    /// The first element has the values as they are, one for each aggregation; another comes when a
    /// change in the query's collections has made one of them different. The store computes them anew
    /// after such a change, once for all changes that have come meanwhile, and never otherwise.
    ///
    /// A failure that may pass is waited out, as in ``listen(to:)``. The sequence throws
    /// `StorageError/Code/unsupported` on an adapter without `StorageCapabilities/changeLog`: there
    /// only asking at intervals could tell a change.
    public func observe(
        _ query: DocumentQuery,
        _ aggregations: [Aggregation]
    ) -> AggregateSnapshots<[DocumentValue]> {
        AggregateSnapshots(client: self, query: .success(query), aggregations) { $0 }
    }
}

extension TypedDocuments {
    /// Observes how many documents a query finds.
    ///
    /// ```swift
    /// for try await count in notes.observeCount({ $0.where(.equal("isDone", false)) }) {
    ///     showBadge(count)
    /// }
    /// ```
    ///
    /// It behaves like ``StorageClient/observe(_:_:)``.
    public func observeCount(
        _ refine: (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) -> AggregateSnapshots<Int> {
        let query = TypedReader(self).query(refine)
        return AggregateSnapshots(client: client, query: query, [.count()]) { values in
            Int(values.first?.integerValue ?? 0)
        }
    }

    /// Observes values computed over the documents that a query finds.
    ///
    /// It behaves like ``StorageClient/observe(_:_:)``.
    public func observe(
        _ aggregations: [Aggregation],
        _ refine: (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) -> AggregateSnapshots<[DocumentValue]> {
        let query = TypedReader(self).query(refine)
        return AggregateSnapshots(client: client, query: query, aggregations) { $0 }
    }
}

/// The results of an aggregation, one after the other: see ``StorageClient/observe(_:_:)``.
public struct AggregateSnapshots<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Value
    public typealias Failure = StorageError

    private let client: StorageClient
    private let query: Result<DocumentQuery, StorageError>
    private let aggregations: [Aggregation]
    private let value: @Sendable ([DocumentValue]) -> Value

    init(
        client: StorageClient,
        query: Result<DocumentQuery, StorageError>,
        _ aggregations: [Aggregation],
        value: @escaping @Sendable ([DocumentValue]) -> Value
    ) {
        self.client = client
        self.query = query
        self.aggregations = aggregations
        self.value = value
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(AggregateListener(client: client, query: query, aggregations), value: value)
    }

    /// A listener, as long as it is kept.
    public struct Iterator: AsyncIteratorProtocol {
        private let listener: AggregateListener
        private let value: @Sendable ([DocumentValue]) -> Value

        init(
            _ listener: AggregateListener,
            value: @escaping @Sendable ([DocumentValue]) -> Value
        ) {
            self.listener = listener
            self.value = value
        }

        /// Waits for the next result; nil when the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(StorageError) -> Value? {
            try await listener.next().map(value)
        }
    }
}

@available(*, unavailable)
extension AggregateSnapshots.Iterator: Sendable {}

/// One listener to an aggregation; its one caller is an iterator.
actor AggregateListener {
    private let client: StorageClient
    private let query: Result<DocumentQuery, StorageError>
    private let aggregations: [Aggregation]
    private var subscription: Subscription?
    private var id: ListenerHub.ID?
    /// Whether the subscription gets every change from now on.
    private var isFollowing = false
    /// Whether the values have to be computed before anything can be told; also after a failure.
    private var needsRead = true
    private var told: [DocumentValue]?

    init(
        client: StorageClient,
        query: Result<DocumentQuery, StorageError>,
        _ aggregations: [Aggregation]
    ) {
        self.client = client
        self.query = query
        self.aggregations = aggregations
    }

    deinit {
        if let id { client.hub.unsubscribe(id) }
    }

    func next() async throws(StorageError) -> [DocumentValue]? {
        do throws(StorageError) {
            try client.require(.changeLog, for: "observe")
            return try await follow(try query.get())
        } catch {
            if error.isCancellation || Task.isCancelled { return nil }
            throw error.during("observe")
        }
    }

    private func follow(_ query: DocumentQuery) async throws(StorageError) -> [DocumentValue]? {
        let checked = try client.check(query, aggregations, for: "observe")
        let subscription = subscribe(to: checked)
        if !isFollowing {
            _ = try await client.readForListener(.documents([]), id, for: "observe")
            isFollowing = true
        }
        while true {
            if needsRead {
                let values = try await compute(query)
                needsRead = false
                if values != told {
                    told = values
                    return values
                }
            }
            switch await subscription.next() {
            case .cancelled: return nil
            case .failure(let error): throw error
            case .reset: needsRead = true
            case .changes(let changes, _): needsRead = !changes.isEmpty
            }
        }
    }

    private func compute(
        _ query: DocumentQuery
    ) async throws(StorageError) -> [DocumentValue] {
        let (client, aggregations) = (client, aggregations)
        return try await withRetry(.listening, clock: client.configuration.clock) {
            _ async throws(StorageError) in try await client.aggregate(query, aggregations)
        }
    }

    private func subscribe(to query: DocumentQuery) -> Subscription {
        if let subscription { return subscription }
        let made = Subscription(.query(query))
        subscription = made
        id = client.hub.subscribe(made)
        return made
    }
}
