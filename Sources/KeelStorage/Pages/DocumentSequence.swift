public import KeelDocuments

extension StorageClient {
    /// The documents that a query finds, in its order, read as they are iterated.
    ///
    /// ```swift
    /// for try await document in storage.documents(matching: DocumentQuery("notes")) {
    ///     print(document.path)
    /// }
    /// ```
    ///
    /// However large the result is, about a page of it is in memory: 1 MiB of documents, or 16 MiB where
    /// the store looks at everything again for each page, because no index gives the order. Declare the
    /// index for a long result. Of `limit(toLast:)` the whole result is read at once.
    ///
    /// All documents are of one moment where the store keeps a history
    /// (`StorageCapabilities/pointInTimeReads`) or can hold its state
    /// (`StorageCapabilities/heldReads`): what is written meanwhile is not seen. A state is held until
    /// the loop ends or is left, and for a minute at most from one document to the next; afterwards the
    /// iteration throws `StorageError/Code/snapshotTooOld`. A held state lets the file of an SQLite
    /// store grow with what others write. Over a store that offers neither, or holds as many states as it
    /// can, each page is of its own moment.
    ///
    /// Nothing is read before the first iteration. A cancelled task gets `StorageError/Code/cancelled`,
    /// so that the end of the loop means the end of the result. A limit of time is for each page.
    public func documents(matching query: DocumentQuery) -> DocumentSequence {
        DocumentSequence(client: self, query: query)
    }
}

/// The documents of a query, one after the other: see ``StorageClient/documents(matching:)``.
///
/// A sequence can be iterated several times; each iteration reads the result as it then is.
public struct DocumentSequence: AsyncSequence, Sendable {
    public typealias Element = Document
    public typealias Failure = StorageError

    /// About how many bytes of documents a page has.
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

    /// A place in the result; what it holds in the store is let go of with it.
    public struct Iterator: AsyncIteratorProtocol {
        private let client: StorageClient
        private let query: DocumentQuery
        /// Nil before the first document, and after the last one.
        private var pages: QueryPages?
        private var hasBegun = false
        /// What was read and not yet given, the next document last.
        private var documents: [Document] = []

        fileprivate init(client: StorageClient, query: DocumentQuery) {
            self.client = client
            self.query = query
        }

        /// The next document; nil after the last one.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(StorageError) -> Document? {
            if !hasBegun {
                pages = try DocumentSequence.pages(of: query, from: client)
                hasBegun = true
            }
            while documents.isEmpty, let pages {
                // What fails once is over: a second call does not begin anew.
                self.pages = nil
                let (rest, page) = try await DocumentSequence.read(pages)
                guard let page else { return nil }
                (self.pages, documents) = (rest, page)
            }
            if let pages, pages.isMomentAging { try await DocumentSequence.keepMoment(of: pages) }
            return documents.popLast()
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
            reportsUnreadable: false,
            holdMoment: { () async throws(StorageError) in
                try await ReadMoment.present(of: client.adapter, on: client.configuration.clock)
            },
            readPage: { request async throws(StorageError) in
                var request = request
                request.isStrict = isStrict
                return try await client.read(request, for: "documents", on: "\(query.scope)")
            }
        )
    }

    // Concurrent: the actor that iterates is not where documents are read.
    @concurrent
    private static func read(
        _ pages: QueryPages
    ) async throws(StorageError) -> (rest: QueryPages, documents: [Document]?) {
        var pages = pages
        guard let page = try await pages.next() else { return (pages, nil) }
        guard let fields = pages.projection else { return (pages, page.documents.reversed()) }
        return (pages, page.documents.reversed().map { $0.selecting(fields) })
    }

    @concurrent
    private static func keepMoment(of pages: QueryPages) async throws(StorageError) {
        try await pages.keepMoment()
    }
}

@available(*, unavailable)
extension DocumentSequence.Iterator: Sendable {}

extension Document {
    /// The document with some of its fields.
    fileprivate func selecting(_ fields: [FieldPath]) -> Document {
        Document(
            path: path,
            body: body.selecting(fields),
            revision: revision,
            createTime: createTime,
            updateTime: updateTime
        )
    }
}
