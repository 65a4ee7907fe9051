public import KeelDocuments

extension TypedDocuments {
    /// Listens to the values that a query finds.
    ///
    /// The sequence behaves like ``StorageClient/listen(to:)``, and decodes only changed values.
    ///
    /// ```swift
    /// for try await snapshot in restaurants.listen({ $0.order(by: "name") }) {
    ///     show(snapshot.items)
    /// }
    /// ```
    public func listen(
        _ refine: (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) -> CollectionSnapshots<Item> {
        let reader = TypedReader(self)
        return CollectionSnapshots(reader: reader, query: reader.query(refine))
    }
}

/// The values that a query finds at one moment.
public struct CollectionSnapshot<Element: Sendable>: Sendable {
    /// The values, in the query's order.
    public let items: [Element]
    /// The changes from the previous items to these; see ``QuerySnapshot/changes``.
    public let changes: [DocumentChange]
    /// The documents that cannot be read or decoded, by path; they are not in ``items``.
    public let failures: [UnreadableDocument]
    /// Whether the store cannot be reached; see ``QuerySnapshot/isFromCache``.
    public let isFromCache: Bool
}

/// The snapshots of typed documents; see ``TypedDocuments/listen(_:)``.
public struct CollectionSnapshots<Item: Sendable>: AsyncSequence, Sendable {
    public typealias Element = CollectionSnapshot<Item>
    public typealias Failure = StorageError

    let reader: TypedReader<Item>
    let query: Result<DocumentQuery, StorageError>

    public func makeAsyncIterator() -> Iterator {
        Iterator(CollectionListener(reader, query))
    }

    /// A listener, which lives as long as the iterator.
    public struct Iterator: AsyncIteratorProtocol {
        private let listener: CollectionListener<Item>

        init(_ listener: CollectionListener<Item>) { self.listener = listener }

        /// Waits for the next snapshot; returns nil when the task is canceled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(StorageError) -> CollectionSnapshot<Item>? {
            try await listener.next()
        }
    }
}

@available(*, unavailable)
extension CollectionSnapshots.Iterator: Sendable {}

/// Decodes the snapshots of a query listener off the caller's actor.
actor CollectionListener<Item: Sendable> {
    private let reader: TypedReader<Item>
    private let query: Result<DocumentQuery, StorageError>
    private var listener: QueryListener?
    private var result = DecodedResult<Item>()

    init(_ reader: TypedReader<Item>, _ query: Result<DocumentQuery, StorageError>) {
        self.reader = reader
        self.query = query
    }

    func next() async throws(StorageError) -> CollectionSnapshot<Item>? {
        let listener = try currentListener()
        guard let snapshot = try await listener.next() else { return nil }
        let changes = result.apply(snapshot.changes) { document throws(StorageError) in
            try reader.decode(document)
        }
        return CollectionSnapshot(
            items: result.items,
            changes: changes,
            failures: (result.failures + snapshot.failures).sorted { $0.path < $1.path },
            isFromCache: snapshot.isFromCache
        )
    }

    private func currentListener() throws(StorageError) -> QueryListener {
        if let listener { return listener }
        let checked = try reader.client.check(try query.get(), for: "listen")
        let made = QueryListener(client: reader.client, query: checked)
        listener = made
        return made
    }
}
