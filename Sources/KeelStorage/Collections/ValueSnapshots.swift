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
    /// The first value is the one that is there, or nil; each later one is what a change has made of
    /// it, nil while there is none. It behaves like ``StorageClient/listenToDocument(_:)``. A document
    /// that cannot be read or decoded throws; the iterator is not at its end then, and its next call
    /// waits for what comes after.
    public func listen(_ id: String) -> ValueSnapshots<Item> {
        ValueSnapshots(
            documents: client.listenToDocument(path.document(id)),
            decode: TypedReader(self).decode
        )
    }
}

/// The values that a document has had, one after the other: see `listen(_:)` of ``TypedCollection``.
public struct ValueSnapshots<Item: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Item?
    public typealias Failure = StorageError

    let documents: DocumentSnapshots
    let decode: @Sendable (Document) throws(StorageError) -> Item

    public func makeAsyncIterator() -> Iterator {
        Iterator(documents: documents.makeAsyncIterator(), decode: decode)
    }

    /// A listener, as long as it is kept.
    public struct Iterator: AsyncIteratorProtocol {
        private var documents: DocumentSnapshots.Iterator
        private let decode: @Sendable (Document) throws(StorageError) -> Item

        init(
            documents: DocumentSnapshots.Iterator,
            decode: @escaping @Sendable (Document) throws(StorageError) -> Item
        ) {
            self.documents = documents
            self.decode = decode
        }

        /// Waits for the next value; nil when the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(StorageError) -> Item?? {
            guard let snapshot = try await documents.next() else { return nil }
            if let failure = snapshot.failure { throw failure.error }
            return .some(try await Self.value(of: snapshot.document, decode))
        }

        /// Decodes off the caller's actor.
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
