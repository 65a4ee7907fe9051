import KeelStorage
import KeelStorageFirestore

extension FirestoreExchange {
    /// `runQuery` over the collections of a document, or those at the root.
    ///
    /// It is read as one query for each collection, in the order of the collections' names.
    func run(_ query: ChildrenQuery) async throws(StorageError) -> ReplyBody {
        try require(.collectionListing, for: "a query over all collections of a document")
        let past: Timestamp?
        switch try await snapshot() {
        // Names and documents are read one after the other: at one time, where the store can.
        case .current where adapter.capabilities.contains(.pointInTimeReads):
            past = try await read(.documents([]), needsTime: true).time
        case .current: past = nil
        case .past(let time): past = time
        case .transaction, .newTransaction:
            throw StorageError(
                .unsupported,
                "a query over all collections of a document is not available in a transaction"
            )
        }
        let clauses = query.clauses
        let asked = clauses.limit.map { clauses.offset + $0.count }
        let names = try await names(
            of: query,
            upTo: min(asked ?? Self.mostOfTree, Self.mostOfTree) + 1,
            asOf: past
        )
        guard names.count <= Self.mostOfTree else {
            throw StorageError(
                .tooLarge,
                "a query over all collections finds more than \(Self.mostOfTree) documents; set a "
                    + "smaller limit, and go on behind the last document"
            )
        }
        let page = names.dropFirst(clauses.offset).prefix(clauses.limit?.count ?? .max)
        // One that was deleted meanwhile is not there any more, and not told.
        return try await made(
            by: BatchReply(
                .runQuery,
                with: Array(page),
                clauses.projection,
                of: self,
                past.map(Snapshot.past) ?? .current
            )
        )
    }

    /// The most documents that a query over all collections of a document finds, those that its offset
    /// passes over included.
    private static let mostOfTree = 1_000_000

    private func names(
        of query: ChildrenQuery,
        upTo most: Int,
        asOf time: Timestamp?
    ) async throws(StorageError) -> [DocumentPath] {
        let result = try await read(.collections(under: query.parent), asOf: time)
        guard case .names(var collections) = result.payload else {
            throw StorageError(
                .unknown,
                "the store returned the wrong kind of result for a listing"
            )
        }
        collections.removeAll(where: StoredName.isReserved)
        if query.isDescending { collections.reverse() }
        var found: [DocumentPath] = []
        for name in collections where found.count < most {
            let collection = query.parent?.collection(name) ?? CollectionPath(segments: [name])
            var walk = NameWalk(query.names(in: collection), asOf: time)
            while found.count < most, let names = try await walk.next(most - found.count, in: self)
            {
                found += names
            }
        }
        return found
    }
}

/// Reads the names of the documents that a query in the order of names finds, page by page.
struct NameWalk {
    /// The most names of a page.
    private static let mostInPage = 1_000

    private var query: DocumentQuery
    private let time: Timestamp?
    private var isOver = false

    /// Begins a walk.
    ///
    /// - Parameters:
    ///   - query: A query that is ordered by documents' ids alone, without a limit; with references as bounds.
    ///   - time: The time whose state is read; nil for the present.
    init(_ query: DocumentQuery, asOf time: Timestamp?) {
        self.query = query
        self.time = time
    }

    /// The next names, those of documents that cannot be read included; nil at the end.
    ///
    /// - Parameters:
    ///   - most: How many are wanted at most; more may come where some cannot be read.
    ///   - exchange: The request.
    /// - Returns: The names, in the query’s order.
    /// - Throws: What the store throws.
    mutating func next(
        _ most: Int,
        in exchange: FirestoreExchange
    ) async throws(StorageError) -> [DocumentPath]? {
        guard !isOver else { return nil }
        let count = min(most, Self.mostInPage)
        query.limit = .first(count)
        let result = try await exchange.read(
            .query(query),
            asOf: time,
            maximumBytes: exchange.configuration.pageBytes,
            reportsUnreadable: true
        )
        guard case .found(let documents) = result.payload else {
            throw StorageError(.unknown, "the store returned the wrong kind of result for a query")
        }
        var names = documents.map(\.path)
        if !result.unreadable.isEmpty {
            let isDescending = query.orders.first?.direction == .descending
            names += result.unreadable.map(\.path)
            names.sort { isDescending ? $1 < $0 : $0 < $1 }
        }
        // Not every store goes on behind those that cannot be read.
        isOver = names.count < count && !result.isPartial
        guard let last = names.last else { return nil }
        query.start = DocumentQuery.Bound([.reference(last)], isInclusive: false)
        return names
    }

    /// Goes on at another place.
    mutating func move(to start: DocumentQuery.Bound) { query.start = start }
}

extension FirestoreExchange {
    /// Those of some names that had a document at a time, nil for the present; not many documents are
    /// held at once.
    func existing(
        _ names: Set<DocumentPath>,
        asOf time: Timestamp?
    ) async throws(StorageError) -> Set<DocumentPath> {
        var existing: Set<DocumentPath> = []
        var rest = names.sorted()[...]
        while !rest.isEmpty {
            let (documents, result) = try await documents(
                Array(rest.prefix(300)),
                asOf: time,
                maximumBytes: configuration.pageBytes,
                reportsUnreadable: true
            )
            for case let document? in documents { existing.insert(document.path) }
            for document in result.unreadable { existing.insert(document.path) }
            rest = rest.dropFirst(documents.count)
        }
        return existing
    }
}
