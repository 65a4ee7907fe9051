public import KeelDocuments
internal import KeelStorageAdapting

extension StorageClient {
    /// Returns the documents that a query finds, in its order, read during the iteration.
    ///
    /// ```swift
    /// for try await document in storage.documents(matching: DocumentQuery("notes")) {
    ///     print(document.path)
    /// }
    /// ```
    ///
    /// About one page is in memory: 1 MiB of documents, or 16 MiB if no index gives the order and each page takes a new
    /// scan. With `limit(toLast:)`, the whole result is read at once.
    ///
    /// All documents are of one moment if the store keeps a history (`StorageCapabilities/pointInTimeReads`) or can
    /// hold its state (`StorageCapabilities/heldReads`). A state is held until the loop ends, and for at most one
    /// minute between two documents; after that, the iteration throws `StorageError/Code/snapshotTooOld`. Meanwhile,
    /// the file of an SQLite store grows with the writes of others. If the store offers neither, or already holds as
    /// many states as it can, each page is of its own moment.
    ///
    /// For a document that cannot be read, the iteration throws its error once; the iterator's next call continues with
    /// the other documents. Another error ends the iteration. In a canceled task, reading a page throws
    /// `StorageError/Code/cancelled`. Over an adapter that counts unreadable documents toward a limit, more than 1,000
    /// of them in a row end the iteration with `StorageError/Code/tooLarge`. A time limit applies to each page.
    public func documents(matching query: DocumentQuery) -> DocumentSequence {
        DocumentSequence(client: self, query: query)
    }
}

/// The documents of a query, read page by page; see ``StorageClient/documents(matching:)``.
///
/// Each iteration reads the current result.
public struct DocumentSequence: AsyncSequence, Sendable {
    public typealias Element = Document
    public typealias Failure = StorageError

    private static let sizes = QueryPages.Sizes(
        first: 1 << 20,
        further: 1 << 20,
        scanned: 16 << 20,
        whole: nil,
        firstCount: 100
    )

    let client: StorageClient
    let query: DocumentQuery

    public func makeAsyncIterator() -> Iterator { Iterator(client: client, query: query) }

    /// A position in the result; its release releases the state that the store holds.
    public struct Iterator: AsyncIteratorProtocol {
        private let client: StorageClient
        private let query: DocumentQuery
        private var pages: QueryPages?
        /// Of all pages, which are for one user.
        private let attempts = StorageAttempts()
        private var hasBegun = false
        /// The documents and errors that have been read but not returned, in reverse order.
        private var results: [Result<Document, StorageError>] = []
        /// The unreadable documents so far: each page that scans its collections finds them again.
        private var unreadable: Set<DocumentPath> = []

        fileprivate init(client: StorageClient, query: DocumentQuery) {
            self.client = client
            self.query = query
        }

        /// Returns the next document; nil after the last one.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(StorageError) -> Document? {
            if !hasBegun {
                pages = try DocumentSequence.pages(of: query, from: client)
                hasBegun = true
            }
            while results.isEmpty, let pages {
                // A failure ends the iteration: the next call does not start again.
                self.pages = nil
                let (rest, page) = try await DocumentSequence.read(pages, as: attempts)
                guard let page else { return nil }
                self.pages = rest
                results = page.documents.map(Result.success)
                for document in page.result.unreadable
                where unreadable.insert(document.path).inserted {
                    results.append(.failure(document.error))
                }
                if rest.isCutShort { results.insert(.failure(.unreadablePage), at: 0) }
            }
            if let pages, pages.isMomentAging { try await DocumentSequence.keepMoment(of: pages) }
            return try results.popLast()?.get()
        }
    }

    private static func pages(
        of query: DocumentQuery,
        from client: StorageClient
    ) throws(StorageError) -> QueryPages {
        let checked = try client.check(query, for: "documents")
        let isStrict = client.configuration.isStrict
        return QueryPages(
            of: checked,
            sizes: sizes,
            from: client.capabilities,
            reportsUnreadable: true,
            holdMoment: { () async throws(StorageError) in
                let context = client.context ?? .current
                return try await context.run { () async throws(StorageError) in
                    try await ReadMoment.present(of: client.adapter, on: client.configuration.clock)
                }
            },
            readPage: { request async throws(StorageError) in
                var request = request
                request.isStrict = isStrict
                return try await client.read(request, for: "documents", on: "\(query.scope)")
            }
        )
    }

    // Concurrent, so that documents are not read on the iterating actor.
    @concurrent
    private static func read(
        _ pages: QueryPages,
        as attempts: StorageAttempts
    ) async throws(StorageError) -> (rest: QueryPages, page: QueryPages.Page?) {
        let context = StorageContext.current.repeated(as: attempts)
        return try await context.perform {
            () async throws(StorageError) -> (rest: QueryPages, page: QueryPages.Page?) in
            var pages = pages
            guard var page = try await pages.next() else { return (pages, nil) }
            page.documents.reverse()
            if let fields = pages.projection {
                page.documents = page.documents.map { $0.with($0.body.selecting(fields)) }
            }
            return (pages, page)
        }
    }

    @concurrent
    private static func keepMoment(of pages: QueryPages) async throws(StorageError) {
        try await pages.keepMoment()
    }
}

@available(*, unavailable)
extension DocumentSequence.Iterator: Sendable {}

extension StorageError {
    fileprivate static var unreadablePage: StorageError {
        StorageError(
            .tooLarge,
            "too many documents in a row cannot be read; narrow the query",
            operation: "documents"
        )
    }
}
