import KeelStorage
import KeelStorageFirestore

/// Reads the result of a query page by page, so that one page at a time is in memory.
///
/// All pages are of one moment: that of the first one over a store with a history, and else one that the
/// store holds. Over a store that has neither, or holds as many moments as it can, each page is of its own
/// moment: what is written meanwhile behind the last document read is seen. The first page, which is of
/// one moment in any case, has up to ``StorageServer/Configuration/firstPageBytes``.
struct QueryPages {
    /// What one read has brought.
    struct Page {
        /// The documents, without those that the query's offset passes over.
        var documents: [Document]
        /// What the store has said beside them.
        var result: ReadResult
    }

    /// The most documents of a page, for stores that do not count bytes.
    private static let mostDocuments = 50_000

    private let exchange: FirestoreExchange
    /// Nil after the last page.
    private var query: DocumentQuery?
    private var time: Timestamp?
    /// Holds the moment, if it has to be held.
    private var moment: ReadMoment?
    /// The transaction's earlier reads, for a result that is read at once.
    private let earlier: TransactionReads?
    private let isPaged: Bool
    private var mostBytes: Int
    /// How many documents the offset still passes over.
    private var skipped: Int
    /// How many documents are still wanted, those that are passed over included; nil for all.
    private var left: Int?

    /// The fields that are wanted, where the documents of pages have more of them.
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
        earlier = snapshot.earlierReads
        var query = query
        if case .last = query.limit { isPaged = false } else { isPaged = !snapshot.notesReads }
        mostBytes =
            isPaged
            ? exchange.configuration.firstPageBytes : exchange.configuration.mostBytesAtOnce
        skipped = 0
        var projection: [FieldPath]?
        if isPaged {
            skipped = query.offset
            query.offset = 0
            if case .first(let count) = query.limit { left = count + skipped }
            // A page begins behind the last document’s values of the ordered fields, so that they have to
            // be read, selected or not.
            if let wanted = query.projection {
                let orders = query.completeOrders.map(\.field).filter { !$0.isDocumentID }
                let missing = orders.filter { !wanted.contains($0) }
                if !missing.isEmpty { projection = wanted }
                query.projection = wanted + missing
            }
        }
        self.projection = projection
        self.query = query
    }

    /// The next page, nil after the last one.
    ///
    /// A page can be empty and not the last one.
    mutating func next() async throws(StorageError) -> Page? {
        guard let query = query.take() else { return nil }
        guard isPaged else { return try await whole(query) }
        var wanted = min(left ?? .max, Self.mostDocuments)
        var (documents, result) = try await read(query, &wanted)
        if time == nil, goesOn(behind: documents, result, of: wanted) {
            let first = result.time
            if isRepeatable {
                time = first
            } else if let moment = try await ReadMoment.present(
                of: exchange.adapter,
                exchange.configuration
            ) {
                self.moment = moment
                time = moment.time
                if moment.time != first { (documents, result) = try await read(query, &wanted) }
            }
        }
        if goesOn(behind: documents, result, of: wanted), let last = documents.last {
            self.query = query.start(after: last)
            left = left.map { $0 - documents.count }
            mostBytes = exchange.configuration.bytes(ofPageBy: result.plan)
        }
        if let moment { result.time = moment.time } else if !isRepeatable { result.time = nil }
        if self.query == nil { await moment?.end() }
        let passed = min(skipped, documents.count)
        skipped -= passed
        return Page(documents: Array(documents.dropFirst(passed)), result: result)
    }

    /// Lets the store hold the moment longer that the rest of the pages is of.
    func keepMoment() async throws(StorageError) {
        if query != nil { try await moment?.renew() }
    }

    /// Whether the time of a read can be read again.
    private var isRepeatable: Bool {
        exchange.adapter.capabilities.contains(.pointInTimeReads)
    }

    /// Reads so many documents, or more of them to get past those that cannot be read.
    private mutating func read(
        _ query: DocumentQuery,
        _ wanted: inout Int
    ) async throws(StorageError) -> (documents: [Document], result: ReadResult) {
        var (documents, result) = try await readOnce(query, wanted)
        while documents.isEmpty, mayHaveMore(documents, result, than: wanted),
            (1...UnreadableDocuments.most).contains(result.unreadable.count)
        {
            // All that was met cannot be read: nothing tells where the next page would begin.
            wanted *= 2
            mostBytes *= 2
            (documents, result) = try await readOnce(query, wanted)
        }
        if let left { documents.removeLast(max(0, documents.count - left)) }
        return (documents, result)
    }

    private func readOnce(
        _ query: DocumentQuery,
        _ wanted: Int
    ) async throws(StorageError) -> (documents: [Document], result: ReadResult) {
        try await moment?.renew()
        return try await exchange.found(
            query.with { $0.limit = .first(wanted) },
            asOf: time,
            needsTime: true,
            mostBytes: mostBytes,
            reportsUnreadable: true,
            needsMoment: time == nil
        )
    }

    /// Whether another page follows.
    private func goesOn(
        behind documents: [Document],
        _ result: ReadResult,
        of wanted: Int
    ) -> Bool {
        !documents.isEmpty && left.map { documents.count < $0 } ?? true
            && mayHaveMore(documents, result, than: wanted)
    }

    /// Whether a read for so many documents has ended before the end of the result.
    ///
    /// An adapter may have left those out, of so many, that it could not read.
    private func mayHaveMore(
        _ documents: [Document],
        _ result: ReadResult,
        than wanted: Int
    ) -> Bool {
        result.isPartial || wanted > 0 && documents.count + result.unreadable.count >= wanted
    }

    /// Reads a result that has to be known as a whole.
    private func whole(_ query: DocumentQuery) async throws(StorageError) -> Page {
        let (documents, result) = try await exchange.found(
            query,
            asOf: time,
            needsTime: true,
            mostBytes: mostBytes,
            after: earlier
        )
        guard !result.isPartial else {
            throw StorageError(
                .tooLarge,
                "what is read in a transaction, or counted from its end, has more than "
                    + "\(mostBytes >> 20) MiB; ask for less"
            )
        }
        return Page(documents: documents, result: result)
    }
}

extension StorageServer.Configuration {
    /// About how many bytes a further page has: an index brings it in order; without one, the store looks at
    /// everything again for each page.
    fileprivate func bytes(ofPageBy plan: QueryPlan?) -> Int {
        switch plan?.access {
        case .index, .identifiers: pageBytes
        case .scan, .search, nil: firstPageBytes
        }
    }
}
