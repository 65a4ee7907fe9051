public import KeelDocuments

extension StorageClient {
    /// Listens to the result of a query.
    ///
    /// The first snapshot is the current result. Each snapshot is complete and consistent: a batch is in it as a whole
    /// or not at all. A slow consumer skips to the latest snapshot, whose changes include those of skipped ones.
    /// Listening begins with the iteration, and ends with its task or the release of the iterator.
    ///
    /// Transient failures are retried; snapshots report the outage in ``QuerySnapshot/isFromCache``. The sequence
    /// throws only errors that a retry cannot fix.
    ///
    /// On an adapter with neither a change log nor `StorageCapabilities/queryChanges`, the query is polled at
    /// ``Configuration/pollInterval``.
    ///
    /// ```swift
    /// for try await snapshot in storage.listen(to: DocumentQuery("notes").order(by: "text")) {
    ///     show(snapshot.documents)
    /// }
    /// ```
    public func listen(to query: DocumentQuery) -> QuerySnapshots {
        QuerySnapshots(client: self, query: query)
    }

    /// Listens to the documents of a collection; see ``listen(to:)``.
    public func listenToCollection(
        _ collection: CollectionPath,
        _ refine: (DocumentQuery) -> DocumentQuery = { $0 }
    ) -> QuerySnapshots {
        listen(to: refine(DocumentQuery(collection)))
    }
}

/// The snapshots of a query; see ``StorageClient/listen(to:)``.
///
/// Each iterator is a separate listener.
public struct QuerySnapshots: AsyncSequence, Sendable {
    public typealias Element = QuerySnapshot
    public typealias Failure = StorageError

    let client: StorageClient
    let query: DocumentQuery

    public func makeAsyncIterator() -> Iterator { Iterator(client: client, query: query) }

    /// A listener, which lives as long as the iterator.
    public struct Iterator: AsyncIteratorProtocol {
        private let client: StorageClient
        private let query: DocumentQuery
        private var listener: QueryListener?

        init(client: StorageClient, query: DocumentQuery) {
            self.client = client
            self.query = query
        }

        /// Waits for the next snapshot; returns nil when the task is canceled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(StorageError) -> QuerySnapshot? {
            if let listener { return try await listener.next() }
            let checked = try client.check(query, for: "listen")
            let listener = QueryListener(client: client, query: checked)
            self.listener = listener
            return try await listener.next()
        }
    }
}

@available(*, unavailable)
extension QuerySnapshots.Iterator: Sendable {}
