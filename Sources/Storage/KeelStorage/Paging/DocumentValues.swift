public import KeelDocuments

/// The values that a query finds, read page by page in bounded memory.
///
/// ```swift
/// for try await note in notes.all {
///     print(note.text)
/// }
/// ```
///
/// Each ``DocumentPage`` is read when the previous one has been consumed. Pages can show different moments; to read one
/// moment, use ``StorageClient/asOf(_:)``.
///
/// For a document that cannot be read or decoded, the iterator throws, before the values of its page; the next call
/// continues with the others.
public struct DocumentValues<Item: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Item
    public typealias Failure = StorageError

    private static var pageSize: Int { 100 }

    private let reader: TypedReader<Item>
    private let query: Result<DocumentQuery, StorageError>

    init(_ reader: TypedReader<Item>, _ query: Result<DocumentQuery, StorageError>) {
        self.reader = reader
        self.query = query
    }

    public func makeAsyncIterator() -> Iterator {
        let pages: Result<PageReader<Item>, StorageError> = query.flatMap { query in
            do throws(StorageError) {
                // Also refuses a negative limit or offset, which no page would report.
                _ = try reader.client.check(query, for: "page")
                var whole = query
                whole.limit = nil
                if case .last? = query.limit {
                    throw StorageError(
                        .invalidArgument,
                        "limit(toLast:) cannot be read page by page; reverse the order and use "
                            + "limit(to:)",
                        operation: "page"
                    )
                }
                let size = Swift.min(Self.pageSize, Swift.max(1, query.limit?.count ?? .max))
                return .success(
                    try PageReader(reader.client, whole, size: size, decode: reader.decode)
                )
            } catch {
                return .failure(error)
            }
        }
        return Iterator(pages, limit: (try? query.get())?.limit?.count)
    }

    /// A position in the values.
    public struct Iterator: AsyncIteratorProtocol {
        private enum Place {
            case page(DocumentCursor?)
            case end
        }

        private let pages: Result<PageReader<Item>, StorageError>
        private var remaining: Int?
        private var place = Place.page(nil)
        /// The results of the page, in reverse order, and whether each counts toward the limit.
        private var ready: [(result: Result<Item, StorageError>, isCounted: Bool)] = []
        /// The documents of earlier failures, which further pages can name again.
        private var failed: Set<DocumentPath> = []

        fileprivate init(_ pages: Result<PageReader<Item>, StorageError>, limit: Int?) {
            self.pages = pages
            remaining = limit
        }

        /// Returns the next value; nil at the end.
        ///
        /// - Throws: The error of a document or a page; `StorageError/Code/cancelled` before a further page if the task
        ///   is canceled; `StorageError/Code/invalidArgument` for a query with `limit(toLast:)`.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(StorageError) -> Item? {
            while remaining != 0 {
                if let (result, isCounted) = ready.popLast() {
                    if isCounted { remaining = remaining.map { $0 - 1 } }
                    return try result.get()
                }
                guard case .page(let cursor) = place else { return nil }
                guard !Task.isCancelled else {
                    throw StorageError(
                        .cancelled,
                        "the task was cancelled before the last page",
                        operation: "page"
                    )
                }
                let page = try await pages.get().page(after: cursor)
                place = page.hasMore ? .page(page.cursor) : .end
                ready = page.items.reversed().map { (result: .success($0), isCounted: true) }
                for (position, failure) in page.failures.enumerated()
                where failed.insert(failure.path).inserted {
                    let isCounted = position >= page.unreadableCount
                    ready.append((result: .failure(failure.error), isCounted: isCounted))
                }
            }
            return nil
        }
    }
}

@available(*, unavailable)
extension DocumentValues.Iterator: Sendable {}

extension TypedDocuments {
    /// All values, in the order of their paths, read page by page.
    public var all: DocumentValues<Item> {
        DocumentValues(TypedReader(self), .success(everything))
    }

    /// The values that a query finds, in its order, read page by page; see ``DocumentValues``.
    ///
    /// ```swift
    /// for try await note in notes.all({ $0.where(.equal("folder", folder)) }) {
    ///     print(note.text)
    /// }
    /// ```
    public func all(
        _ refine: (DocumentQuery) throws -> DocumentQuery
    ) -> DocumentValues<Item> {
        let reader = TypedReader(self)
        return DocumentValues(reader, reader.query(refine))
    }
}
