public import KeelDocuments

extension TypedCollection {
    /// Listens to the value with an id.
    ///
    /// ```swift
    /// for try await note in notes.listen("1") {
    ///     show(note?.text ?? "This note was deleted.")
    /// }
    /// ```
    ///
    /// The first value is the current one; each later one is the value after a change. It is nil while the document is
    /// missing. The sequence behaves like ``StorageClient/listenToDocument(_:)``, without reporting outages. If the
    /// document cannot be read or decoded, the iterator throws. It remains usable: its next call waits for the next
    /// change.
    public func listen(_ id: String) -> ValueSnapshots<Item> {
        ValueSnapshots(
            documents: client.listenToDocument(path.document(id)),
            decode: TypedReader(self).decode
        )
    }
}

/// The successive values of a document; see `listen(_:)` of ``TypedCollection``.
public struct ValueSnapshots<Item: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Item?
    public typealias Failure = StorageError

    let documents: DocumentSnapshots
    let decode: @Sendable (Document) throws(StorageError) -> Item

    public func makeAsyncIterator() -> Iterator {
        Iterator(documents: documents.makeAsyncIterator(), decode: decode)
    }

    /// A listener, which lives as long as the iterator.
    public struct Iterator: AsyncIteratorProtocol {
        private var documents: DocumentSnapshots.Iterator
        private let decode: @Sendable (Document) throws(StorageError) -> Item
        private var last: DocumentSnapshot?

        init(
            documents: DocumentSnapshots.Iterator,
            decode: @escaping @Sendable (Document) throws(StorageError) -> Item
        ) {
            self.documents = documents
            self.decode = decode
        }

        /// Waits for the next value; returns nil when the task is canceled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(StorageError) -> Item?? {
            while let snapshot = try await documents.next() {
                let last = last
                self.last = snapshot
                // Only an outage has begun or ended.
                if let last, last.document == snapshot.document, last.failure == snapshot.failure {
                    continue
                }
                if let failure = snapshot.failure { throw failure.error }
                return .some(try await Self.value(of: snapshot.document, decode))
            }
            return nil
        }

        @concurrent
        private static func value(
            of document: Document?,
            _ decode: @Sendable (Document) throws(StorageError) -> Item
        ) async throws(StorageError) -> Item? {
            guard let document else { return nil }
            return try decode(document)
        }
    }
}

@available(*, unavailable)
extension ValueSnapshots.Iterator: Sendable {}
