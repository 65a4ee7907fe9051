package import KeelDocuments
package import KeelStorageAdapting

/// Reads the result of a query page by page, so that one page at a time is in memory.
///
/// All pages are of one moment: that of the first one over a store with a history, and else one that the
/// store holds. Over a store that has neither, or holds as many moments as it can, each page is of its own
/// moment: what is written meanwhile behind the last document read is seen. The first page is of one moment
/// in any case.
package struct QueryPages: Sendable {
    /// Reads from the store.
    package typealias Reading = @Sendable (ReadRequest) async throws(StorageError) -> ReadResult
    /// Takes the present moment of the store; nil if it cannot hold one.
    package typealias Holding = @Sendable () async throws(StorageError) -> ReadMoment?

    /// About how large pages are, in bytes of documents.
    package struct Sizes: Sendable {
        /// The first page.
        package var first: Int
        /// A further page that an index brings in order.
        package var further: Int
        /// A further page for which the store looks at everything again.
        package var scanned: Int
        /// The most of a result that has to be read at once; nil for any number.
        package var whole: Int?
        /// The most documents of the first page; later ones have as many as fit.
        package var firstCount: Int

        /// Creates sizes.
        package init(first: Int, further: Int, scanned: Int, whole: Int?, firstCount: Int) {
            self.first = first
            self.further = further
            self.scanned = scanned
            self.whole = whole
            self.firstCount = firstCount
        }

        fileprivate func bytes(ofPageBy plan: QueryPlan?) -> Int {
            switch plan?.access {
            case .index, .identifiers: further
            case .scan, .search, nil: scanned
            }
        }
    }

    /// What one read has brought.
    package struct Page: Sendable {
        /// The documents, without those that the query's offset passes over.
        package var documents: [Document]
        /// What the store has said beside them.
        package var result: ReadResult
    }

    /// The most documents of a page, for stores that do not count bytes.
    package static let mostDocuments = 50_000

    private let capabilities: StorageCapabilities
    private let sizes: Sizes
    private let reportsUnreadable: Bool
    private let holdMoment: Holding
    private let readPage: Reading
    /// Nil after the last page.
    private var query: DocumentQuery?
    private var time: Timestamp?
    /// Holds the moment, if it has to be held.
    private var moment: ReadMoment?
    /// Whether the store has not been asked to hold a moment.
    private var mayHold = true
    private let isPaged: Bool
    private var mostBytes: Int
    private var count: Int
    /// How many documents the offset still passes over.
    private var skipped: Int
    /// How many documents are still wanted, those that are passed over included; nil for all.
    private var left: Int?

    /// The fields that are wanted, where the documents of pages have more of them.
    package let projection: [FieldPath]?

    /// Creates the pages of a query.
    ///
    /// - Parameters:
    ///   - query: The query, checked.
    ///   - time: The time whose state is read, nil for the present one.
    ///   - isWhole: Whether the result is read at once.
    ///   - sizes: How large the pages are.
    ///   - capabilities: The capabilities of the store.
    ///   - reportsUnreadable: Whether pages name documents that cannot be read.
    ///   - holdMoment: Takes the present moment of the store.
    ///   - readPage: Reads from the store.
    package init(
        of query: DocumentQuery,
        asOf time: Timestamp? = nil,
        isWhole: Bool = false,
        sizes: Sizes,
        from capabilities: StorageCapabilities,
        reportsUnreadable: Bool,
        holdMoment: @escaping Holding,
        readPage: @escaping Reading
    ) {
        self.time = time
        self.sizes = sizes
        self.capabilities = capabilities
        self.reportsUnreadable = reportsUnreadable
        self.holdMoment = holdMoment
        self.readPage = readPage
        var query = query
        if case .last = query.limit { isPaged = false } else { isPaged = !isWhole }
        mostBytes = sizes.first
        count = sizes.firstCount
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
    package mutating func next() async throws(StorageError) -> Page? {
        guard let query = query.take() else { return nil }
        guard isPaged else { return try await whole(query) }
        var wanted = min(left ?? .max, count)
        var (documents, result) = try await read(query, &wanted)
        if time == nil, try goesOn(behind: documents, result, of: wanted) {
            let first = result.time
            if isRepeatable, first != nil {
                time = first
            } else if mayHold, let moment = try await holdMoment() {
                self.moment = moment
                time = moment.time
                if moment.time != first { (documents, result) = try await read(query, &wanted) }
            }
            mayHold = false
        }
        if try goesOn(behind: documents, result, of: wanted), let last = documents.last {
            self.query = query.start(after: last)
            left = left.map { $0 - documents.count }
            mostBytes = sizes.bytes(ofPageBy: result.plan)
            count = Self.count(of: mostBytes, like: documents)
        }
        if let moment { result.time = moment.time }
        if self.query == nil { await moment?.end() }
        let passed = min(skipped, documents.count)
        skipped -= passed
        return Page(documents: Array(documents.dropFirst(passed)), result: result)
    }

    /// Whether the store has held the moment for so long that it is to be told to go on.
    package var isMomentAging: Bool { query != nil && moment?.isAging == true }

    /// Lets the store hold the moment longer that the rest of the pages is of.
    package func keepMoment() async throws(StorageError) {
        if query != nil { try await moment?.renew() }
    }

    /// Whether the time of a read can be read again.
    private var isRepeatable: Bool { capabilities.contains(.pointInTimeReads) }

    /// About twice as many documents as fit: a store that counts bytes ends the page before.
    private static func count(of bytes: Int, like documents: [Document]) -> Int {
        let size = documents.reduce(0) { $0 + $1.body.bytes.count + 200 } / documents.count
        return max(1, min(mostDocuments, 2 * bytes / size))
    }

    /// Reads so many documents, or more of them to get past those that cannot be read.
    private mutating func read(
        _ query: DocumentQuery,
        _ wanted: inout Int
    ) async throws(StorageError) -> (documents: [Document], result: ReadResult) {
        var (documents, result) = try await readOnce(query, &wanted)
        while documents.isEmpty, try result.mayHaveMore(than: wanted),
            (1...UnreadableDocument.mostPassedOver).contains(result.unreadable.count)
        {
            // All that was met cannot be read: nothing tells where the next page would begin.
            wanted *= 2
            mostBytes *= 2
            (documents, result) = try await readOnce(query, &wanted)
        }
        if let left { documents.removeLast(max(0, documents.count - left)) }
        return (documents, result)
    }

    /// Reads so many documents, or fewer where they are too large for one answer.
    private func readOnce(
        _ query: DocumentQuery,
        _ wanted: inout Int
    ) async throws(StorageError) -> (documents: [Document], result: ReadResult) {
        while true {
            try await moment?.renew()
            var request = ReadRequest(.query(query.with { $0.limit = .first(wanted) }))
            request.asOf = time
            request.mostBytes = mostBytes
            request.reportsUnreadable = reportsUnreadable
            request.needsTime = true
            do throws(StorageError) {
                let result = try await readPage(request)
                return (try result.found, result)
            } catch {
                guard error.code == .tooLarge, wanted > 1 else { throw error }
                wanted /= 2
            }
        }
    }

    /// Whether another page follows.
    private func goesOn(
        behind documents: [Document],
        _ result: ReadResult,
        of wanted: Int
    ) throws(StorageError) -> Bool {
        guard !documents.isEmpty, left.map({ documents.count < $0 }) ?? true else { return false }
        return try result.mayHaveMore(than: wanted)
    }

    /// Reads a result that has to be known as a whole.
    private func whole(_ query: DocumentQuery) async throws(StorageError) -> Page {
        var request = ReadRequest(.query(query))
        request.asOf = time
        request.mostBytes = sizes.whole
        request.needsTime = true
        let result = try await readPage(request)
        guard !result.isPartial else {
            throw StorageError(
                .tooLarge,
                "what is read in a transaction, or counted from its end, has more than "
                    + "\((sizes.whole ?? 0) >> 20) MiB; ask for less"
            )
        }
        return Page(documents: try result.found, result: result)
    }
}

extension ReadResult {
    /// Whether a query for so many documents may find more than these.
    ///
    /// An adapter may have left those out, of so many, that it could not read.
    func mayHaveMore(than wanted: Int) throws(StorageError) -> Bool {
        let found = try found
        return isPartial || wanted > 0 && found.count + unreadable.count >= wanted
    }

    /// The documents of a query.
    package var found: [Document] {
        get throws(StorageError) {
            guard case .found(let documents) = payload else {
                throw StorageError(.unknown, "the store answered a query with something else")
            }
            return documents
        }
    }
}
