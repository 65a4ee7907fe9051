package import KeelDocuments
package import KeelStorageAdapting

/// Reads the result of a query page by page, with one page in memory at a time.
///
/// All pages are of one moment: that of the first page over a store with a history, otherwise one that the store holds.
/// If the store can do neither, or already holds as many moments as it can, each page is of its own moment.
package struct QueryPages: Sendable {
    package typealias Reading = @Sendable (ReadRequest) async throws(StorageError) -> ReadResult
    /// Takes the present moment of the store; returns nil if the store cannot hold one.
    package typealias Holding = @Sendable () async throws(StorageError) -> ReadMoment?

    /// The approximate sizes of pages in bytes of documents.
    package struct Sizes: Sendable {
        package var first: Int
        package var further: Int
        package var scanned: Int
        /// The largest result that can be read at once; nil without a limit.
        package var whole: Int?
        /// The size beyond which a result that is read at once loses its beginning; nil to fail instead.
        package var end: Int?
        /// The largest number of documents in the first page; further pages have as many as fit.
        package var firstCount: Int

        package init(
            first: Int,
            further: Int,
            scanned: Int,
            whole: Int?,
            end: Int? = nil,
            firstCount: Int
        ) {
            self.first = first
            self.further = further
            self.scanned = scanned
            self.whole = whole
            self.end = end
            self.firstCount = firstCount
        }

        fileprivate func bytes(ofPageBy plan: QueryPlan?) -> Int {
            switch plan?.access {
            case .index, .identifiers: further
            case .scan, .search, nil: scanned
            }
        }
    }

    package struct Page: Sendable {
        package var documents: [Document]
        package var result: ReadResult
    }

    /// The largest number of documents in a page, for stores that do not count bytes.
    package static let mostDocuments = 50_000

    private let capabilities: StorageCapabilities
    private let sizes: Sizes
    private let reportsUnreadable: Bool
    private let holdMoment: Holding
    private let readPage: Reading
    private var query: DocumentQuery?
    private var time: Timestamp?
    private var moment: ReadMoment?
    private var mayHold = true
    private let isPaged: Bool
    private let isWhole: Bool
    private var maximumBytes: Int
    private var count: Int
    private var skipped: Int
    private var left: Int?

    /// Whether the last page has too many documents that cannot be read, so that others may follow.
    package private(set) var isCutShort = false

    /// The fields to return, if the documents of pages have more.
    package let projection: [FieldPath]?

    /// Creates the pages of a validated query.
    ///
    /// With `isWhole`, the result is read at once, and a document that cannot be read is an error.
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
        self.isWhole = isWhole
        self.sizes = sizes
        self.capabilities = capabilities
        self.reportsUnreadable = reportsUnreadable
        self.holdMoment = holdMoment
        self.readPage = readPage
        var query = query
        if case .last = query.limit { isPaged = false } else { isPaged = !isWhole }
        maximumBytes = sizes.first
        count = sizes.firstCount
        skipped = 0
        var projection: [FieldPath]?
        if isPaged {
            skipped = query.offset
            query.offset = 0
            if case .first(let count) = query.limit { left = count + skipped }
            // A page begins after the last document’s values of the order fields, which must therefore be read even
            // if they are not selected.
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

    /// Returns the next page; nil after the last one.
    ///
    /// An empty page is not necessarily the last.
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
            maximumBytes = sizes.bytes(ofPageBy: result.plan)
            count = Self.count(of: maximumBytes, like: documents)
        } else if documents.isEmpty, !result.unreadable.isEmpty {
            isCutShort = try result.mayHaveMore(than: wanted)
        }
        if let moment { result.time = moment.time }
        if self.query == nil { await moment?.end() }
        let passed = min(skipped, documents.count)
        skipped -= passed
        return Page(documents: Array(documents.dropFirst(passed)), result: result)
    }

    package var mayHaveMore: Bool { query != nil }

    package mutating func end() async {
        if query.take() != nil { await moment?.end() }
    }

    package var isMomentAging: Bool { query != nil && moment?.isAging == true }

    package func keepMoment() async throws(StorageError) {
        if query != nil { try await moment?.renew() }
    }

    private var isRepeatable: Bool { capabilities.contains(.pointInTimeReads) }

    /// About twice as many documents as fit, because a store that counts bytes ends the page earlier.
    private static func count(of bytes: Int, like documents: [Document]) -> Int {
        let size = documents.reduce(0) { $0 + $1.body.bytes.count + 200 } / documents.count
        return max(1, min(mostDocuments, 2 * bytes / size))
    }

    /// Reads `wanted` documents, or more in order to get past unreadable ones.
    private mutating func read(
        _ query: DocumentQuery,
        _ wanted: inout Int
    ) async throws(StorageError) -> (documents: [Document], result: ReadResult) {
        var (documents, result) = try await readOnce(query, &wanted)
        let most = UnreadableDocument.mostPassedOver
        var passedOver = 0
        // No further if the documents behind are too large to be read with these.
        while documents.isEmpty, result.unreadable.count > passedOver, passedOver <= most,
            try result.mayHaveMore(than: wanted),
            // A store that reports more than `wanted` does not count all: one further read shows whether others follow.
            result.unreadable.count <= most || result.unreadable.count > wanted
        {
            // None of the documents can be read, so the start of the next page is unknown: read further.
            passedOver = result.unreadable.count
            wanted = 2 * max(wanted, passedOver)
            maximumBytes *= 2
            (documents, result) = try await readOnce(query, &wanted)
        }
        if let left { documents.removeLast(max(0, documents.count - left)) }
        return (documents, result)
    }

    /// Reads `wanted` documents, or fewer if they are too large for one response.
    private func readOnce(
        _ query: DocumentQuery,
        _ wanted: inout Int
    ) async throws(StorageError) -> (documents: [Document], result: ReadResult) {
        while true {
            try await moment?.renew()
            var request = ReadRequest(.query(query.with { $0.limit = .first(wanted) }))
            request.asOf = time
            request.maximumBytes = maximumBytes
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

    private func goesOn(
        behind documents: [Document],
        _ result: ReadResult,
        of wanted: Int
    ) throws(StorageError) -> Bool {
        guard !documents.isEmpty, left.map({ documents.count < $0 }) ?? true else { return false }
        return try result.mayHaveMore(than: wanted)
    }

    private func whole(_ query: DocumentQuery) async throws(StorageError) -> Page {
        var request = ReadRequest(.query(query))
        request.asOf = time
        request.maximumBytes = [sizes.whole, sizes.end].compactMap(\.self).min()
        request.reportsUnreadable = reportsUnreadable && !isWhole
        request.needsTime = true
        var result = try await readPage(request)
        if let end = sizes.end, request.maximumBytes == end {
            let documents = try result.found
            let count = AnswerSize.count(of: documents.reversed(), upTo: end)
            if count < documents.count { result.isPartial = true }
            return Page(documents: documents.suffix(count), result: result)
        }
        guard !result.isPartial else {
            throw StorageError(
                .tooLarge,
                "the result exceeds \((sizes.whole ?? 0) >> 20) MiB, the maximum in a transaction "
                    + "or with limit(toLast:); read less"
            )
        }
        return Page(documents: try result.found, result: result)
    }
}

extension ReadResult {
    /// Returns whether a query limited to `wanted` documents may have more; unreadable ones may be among the `wanted`.
    func mayHaveMore(than wanted: Int) throws(StorageError) -> Bool {
        let found = try found
        return isPartial || wanted > 0 && found.count + unreadable.count >= wanted
    }
}
