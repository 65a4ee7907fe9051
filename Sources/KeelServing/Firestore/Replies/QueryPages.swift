import KeelStorage

/// Reads the result of a query page by page, so that one page at a time is in memory.
///
/// Over a store with a history, all pages are of the moment of the first one. Over another, each page
/// is of its own moment: what is written meanwhile behind the last document read is seen. A first page
/// that is the last is always of one moment.
struct QueryPages {
    /// The most documents of a page: the first one, one that an index brings in order, and one for
    /// which the store looks at everything again.
    private static let mostDocuments = (first: 300, ordered: 5_000, unordered: 50_000)
    /// About the most bytes of a page that an index brings in order, and of another.
    private static let mostBytes = (ordered: 4 << 20, unordered: 16 << 20)
    /// About how many bytes a document takes beside its body.
    private static let overhead = 400

    private let exchange: FirestoreExchange
    private var query: DocumentQuery?
    private var time: Timestamp?
    private var size: Int?

    /// The fields that are wanted, which the documents of pages may have more of; nil for all.
    let projection: [FieldPath]?

    /// Creates the pages of a query.
    ///
    /// - Parameters:
    ///   - query: The query, checked.
    ///   - exchange: The request that it is of.
    ///   - snapshot: The snapshot of the request. A transaction reads everything at once, to
    ///     record it.
    init(
        of query: DocumentQuery,
        in exchange: FirestoreExchange,
        _ snapshot: FirestoreExchange.Snapshot
    ) {
        self.exchange = exchange
        time = snapshot.time
        var query = query
        var isPaged = !snapshot.notesReads
        switch query.limit {
        case .last: isPaged = false
        case .first(let count) where count <= Self.mostDocuments.first: isPaged = false
        case .first, nil: break
        }
        size = isPaged ? Self.mostDocuments.first : nil
        // A page begins after the last document’s values of the ordered fields, so that they have to be
        // read, selected or not.
        projection = isPaged ? query.projection : nil
        if isPaged { query.projection = nil }
        self.query = query
    }

    /// The next page, nil after the last one.
    mutating func next() async throws(StorageError) -> (documents: [Document], result: ReadResult)?
    {
        guard let query else { return nil }
        guard let size else {
            self.query = nil
            return try await exchange.found(query, asOf: time, needsTime: true)
        }
        var left: Int?
        if case .first(let most) = query.limit { left = most }
        let wanted = min(size, left ?? size)
        var request = query
        request.limit = .first(wanted)
        let (documents, result) = try await exchange.found(request, asOf: time, needsTime: true)
        self.query = nil
        if let last = documents.last, documents.count == wanted, left != wanted {
            var following = query.start(after: last)
            following.offset = 0
            following.limit = left.map { .first($0 - wanted) }
            self.query = following
            self.size = Self.size(after: documents, result.plan)
            time = time ?? result.time
        }
        return (documents, result)
    }

    private static func size(after documents: [Document], _ plan: QueryPlan?) -> Int {
        let bytes = documents.reduce(0) { $0 + $1.body.bytes.count + overhead }
        let average = max(1, bytes / max(1, documents.count))
        switch plan?.access {
        case .index, .identifiers:
            return min(max(16, mostBytes.ordered / average), mostDocuments.ordered)
        case .scan, .search, nil:
            return min(max(16, mostBytes.unordered / average), mostDocuments.unordered)
        }
    }
}
