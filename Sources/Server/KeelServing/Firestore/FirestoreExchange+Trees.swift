import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore

extension FirestoreExchange {
    /// Runs a query over all collections of a document or the root.
    ///
    /// Each collection is read with a query of its own, in the order of the names.
    func run(_ query: ChildrenQuery) async throws(StorageError) -> ReplyBody {
        try require(.collectionListing, for: "a query over all collections of a document")
        try QueryValidation.check(selection: query.clauses.projection)
        let past: Timestamp?
        switch try await snapshot() {
        // Names and documents are read separately, but at the same time if the store supports it.
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
        // Documents deleted in the meantime are omitted.
        return try await made(
            by: try BatchReply(
                .runQuery,
                with: Array(page),
                clauses.projection,
                of: self,
                past.map(Snapshot.past) ?? .current
            )
        )
    }

    /// The maximum number of documents that such a query finds, including those skipped by its offset.
    private static let mostOfTree = 1_000_000

    private func names(
        of query: ChildrenQuery,
        upTo most: Int,
        asOf time: Timestamp?
    ) async throws(StorageError) -> [DocumentPath] {
        let result = try await read(.collections(under: query.parent), asOf: time)
        var collections = try result.names
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

/// A reader of document names, page by page, in the order of names.
struct NameWalk {
    private static let mostInPage = 1_000

    private var query: DocumentQuery
    private let time: Timestamp?
    private var isOver = false

    /// Creates a walk over a query that is ordered only by ids, without a limit, and with references as bounds.
    init(_ query: DocumentQuery, asOf time: Timestamp?) {
        self.query = query
        self.time = time
    }

    /// Returns the next names, including those of unreadable documents, which may exceed `most`; nil at the end.
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
        var names = try result.found.map(\.path)
        if !result.unreadable.isEmpty {
            let isDescending = query.orders.first?.direction == .descending
            names += result.unreadable.map(\.path)
            names.sort { isDescending ? $1 < $0 : $0 < $1 }
        }
        // Some stores end a page early if documents are unreadable.
        isOver = names.count < count && !result.isPartial
        guard let last = names.last else { return nil }
        query.start = DocumentQuery.Bound([.reference(last)], isInclusive: false)
        return names
    }

    mutating func move(to start: DocumentQuery.Bound) { query.start = start }
}

extension FirestoreExchange {
    /// Returns the names that have a document at a time, or at present.
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
