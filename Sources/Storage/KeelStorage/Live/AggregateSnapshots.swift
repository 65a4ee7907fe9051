internal import KeelCore
public import KeelDocuments

extension StorageClient {
    /// Observes values computed over the documents that a query finds.
    ///
    /// The first element has the current values, one per aggregation; another follows whenever a value differs. The
    /// store recomputes the values after changes in the query's collections, or on an adapter without
    /// `StorageCapabilities/changeLog` every ``Configuration/pollInterval``.
    ///
    /// Transient failures are retried; the sequence throws only errors that a retry cannot fix.
    public func observe(
        _ query: DocumentQuery,
        _ aggregations: [Aggregation]
    ) -> AggregateSnapshots<[DocumentValue]> {
        AggregateSnapshots(client: self, query: .success(query), aggregations) { $0 }
    }
}

extension TypedDocuments {
    /// Observes the number of documents that match a query; see ``StorageClient/observe(_:_:)``.
    ///
    /// ```swift
    /// for try await count in notes.observeCount({ $0.where(.equal("isDone", false)) }) {
    ///     showBadge(count)
    /// }
    /// ```
    public func observeCount(
        _ refine: (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) -> AggregateSnapshots<Int> {
        let query = TypedReader(self).query(refine)
        return AggregateSnapshots(client: client, query: query, [.count()]) { values in
            Int(values.first?.integerValue ?? 0)
        }
    }

    /// Observes values computed over the documents that a query finds.
    public func observe(
        _ aggregations: [Aggregation],
        _ refine: (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) -> AggregateSnapshots<[DocumentValue]> {
        let query = TypedReader(self).query(refine)
        return AggregateSnapshots(client: client, query: query, aggregations) { $0 }
    }
}

/// The successive results of an aggregation; see ``StorageClient/observe(_:_:)``.
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

    /// A listener, which lives as long as the iterator.
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

        /// Waits for the next result; returns nil when the task is canceled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(StorageError) -> Value? {
            try await listener.next().map(value)
        }
    }
}

@available(*, unavailable)
extension AggregateSnapshots.Iterator: Sendable {}

actor AggregateListener {
    private let client: StorageClient
    private let query: Result<DocumentQuery, StorageError>
    private let aggregations: [Aggregation]
    private var subscription: Subscription?
    private var id: ListenerHub.ID?
    private var isFollowing = false
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
            let query = try query.get()
            return try await client.capabilities.contains(.changeLog) ? follow(query) : poll(query)
        } catch {
            if error.isCancellation || Task.isCancelled { return nil }
            throw error.during("observe")
        }
    }

    private func follow(_ query: DocumentQuery) async throws(StorageError) -> [DocumentValue]? {
        let checked = try client.check(query, aggregations, for: "observe")
        let subscription = subscribe(to: checked)
        var outage = ListenerOutage()
        while !isFollowing {
            let start = try await client.readForListener(
                .documents([]),
                id,
                &outage,
                for: "observe"
            )
            isFollowing = start != nil
        }
        while true {
            if needsRead, let values = try await compute(query) { return values }
            switch await subscription.next() {
            case .cancelled: return nil
            case .failure(let error): throw error
            case .reset: needsRead = true
            case .connection: break
            case .changes(let changes, _): needsRead = !changes.isEmpty
            }
        }
    }

    private func poll(_ query: DocumentQuery) async throws(StorageError) -> [DocumentValue]? {
        while true {
            if needsRead, let values = try await compute(query) { return values }
            guard await client.waitForPoll() else { return nil }
            needsRead = true
        }
    }

    private func compute(
        _ query: DocumentQuery
    ) async throws(StorageError) -> [DocumentValue]? {
        let (client, aggregations) = (client, aggregations)
        let values = try await withRetry(
            .listening,
            clock: client.configuration.clock,
            // A store may cancel a call of its own accord.
            shouldRetry: { $0.isTransient || $0.isCancellation },
            operation: { (_: Int) async throws(StorageError) in
                try await client.withoutLimit {
                    (client: StorageClient) async throws(StorageError) in
                    try await client.aggregate(query, aggregations)
                }
            }
        )
        needsRead = false
        guard values != told else { return nil }
        told = values
        return values
    }

    private func subscribe(to query: DocumentQuery) -> Subscription {
        if let subscription { return subscription }
        let made = Subscription(.query(query))
        subscription = made
        id = client.hub.subscribe(made)
        return made
    }
}
