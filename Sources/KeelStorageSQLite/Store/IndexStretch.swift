#if SQLite
internal import GRDB
internal import KeelStorage

/// A stretch of the entries of one index.
struct IndexStretch {
    private let index: Int64
    private let collection: Int64
    private let first: [UInt8]
    private let firstBehind: [UInt8]?
    private let isBackward: Bool
    /// Whether the stretch can hold documents outside of the query's scope.
    let needsScopeCheck: Bool

    /// Finds the stretch that a scan names; nil if nothing can be in it.
    init?(
        _ scan: QueryPlanner.Scan,
        of prepared: PreparedQuery,
        _ reader: StoreReader,
        _ indexes: IndexSet
    ) throws {
        guard !scan.range.isEmpty, let stored = indexes.stored(scan.index) else { return nil }
        index = stored.number
        switch prepared.query.scope {
        case .collection(let path):
            guard let number = try reader.number(of: path) else { return nil }
            collection = number
            needsScopeCheck = false
        case .group(_, let ancestor):
            collection = 0
            needsScopeCheck = ancestor != nil
        }
        var range = scan.range
        if scan.index.isEqualityOnly {
            range = try range.replacingPrefix(of: scan.fixedLength) { prefix in
                try reader.sealing.fingerprint(prefix, in: stored.definition)
            }
        }
        first = range.first
        firstBehind = range.firstBehind
        isBackward = scan.isBackward
    }

    /// The statement that reads the stretch's documents, ready to run.
    func documents(in database: Database) throws -> RawStatement {
        let sql = isBackward ? Self.backward : Self.forward
        return try bound(try RawStatement(database, firstBehind == nil ? sql.open : sql.closed))
    }

    /// The statement that counts the stretch's entries and stops at a number, ready to run.
    func count(upTo most: Int, in database: Database) throws -> RawStatement {
        let sql = Self.counting
        let statement = try RawStatement(database, firstBehind == nil ? sql.open : sql.closed)
        try statement.bind(5, Int64(most))
        return try bound(statement)
    }

    /// A statement for stretches without an end, and one for those with.
    private typealias SQL = (open: String, closed: String)

    // Written once: joining texts for each query would cost more than finding the statement.
    private static let forward = selection("ASC")
    private static let backward = selection("DESC")
    private static let counting = sql("SELECT count(*) FROM (SELECT 1 FROM entries e", "LIMIT ?5)")

    private static func selection(_ direction: String) -> SQL {
        // Without CROSS, SQLite might begin with the documents.
        sql(
            """
            SELECT \(StoreReader.columns) FROM entries e CROSS JOIN documents d ON d.rid = e.rid
            """,
            "ORDER BY e.key \(direction)"
        )
    }

    private static func sql(_ selection: String, _ order: String) -> SQL {
        let open = "\(selection) WHERE e.ix = ?1 AND e.cid = ?2 AND e.key >= ?3"
        return ("\(open) \(order)", "\(open) AND e.key < ?4 \(order)")
    }

    private func bound(_ statement: RawStatement) throws -> RawStatement {
        try statement.bind(1, index)
        try statement.bind(2, collection)
        try statement.bind(3, first)
        if let firstBehind { try statement.bind(4, firstBehind) }
        return statement
    }
}

extension KeyRange {
    /// The range with the first bytes of its keys replaced.
    fileprivate func replacingPrefix(
        of length: Int,
        by replacement: ([UInt8]) throws -> [UInt8]
    ) throws -> KeyRange {
        guard let bytes = (lower ?? upper)?.bytes, bytes.count >= length else { return self }
        let prefix = try replacement(Array(bytes.prefix(length)))
        func replaced(_ cut: Cut?) -> Cut? {
            cut.map { cut in
                let bytes = prefix + cut.bytes.dropFirst(length)
                return cut.isAfter ? .after(bytes) : .before(bytes)
            }
        }
        return KeyRange(from: replaced(lower), to: replaced(upper))
    }
}

/// The collections of a query in the order of their documents' paths.
struct CollectionsInOrder {
    private let all: [(number: Int64, key: [UInt8])]

    /// Whether the documents of each collection come behind all those of the one before.
    ///
    /// Those of a collection of the same name below a document come between that document and the next.
    let areApart: Bool

    init(_ collections: [(number: Int64, path: CollectionPath)]) {
        all = collections.map { ($0.number, IndexKey.key(ofAllIn: $0.path)) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
        areApart = zip(all, all.dropFirst()).allSatisfy { !$1.key.starts(with: $0.key) }
    }

    /// The stretches of the collections in a range of paths' keys.
    func stretches(_ range: KeyRange, isBackward: Bool) -> some Sequence<IdentifierStretch> {
        (isBackward ? all.reversed() : all).lazy.compactMap { collection in
            IdentifierStretch(range, of: collection, isBackward: isBackward)
        }
    }
}

/// A stretch of a collection in the order of its ids.
struct IdentifierStretch {
    private let collection: Int64
    private let lower: String?
    private let upper: String?
    private let isBackward: Bool

    /// Finds the stretch of a collection in a range of paths' keys; nil if no path lies in it.
    ///
    /// The ends are taken as inclusive: the place of each document is checked anyway.
    fileprivate init?(
        _ range: KeyRange,
        of collection: (number: Int64, key: [UInt8]),
        isBackward: Bool
    ) {
        let own = KeyRange(from: .before(collection.key), to: .after(collection.key))
        guard !own.intersection(range).isEmpty else { return nil }
        self.collection = collection.number
        lower = range.lower.flatMap { IndexKey.id(in: $0.bytes, after: collection.key) }
        upper = range.upper.flatMap { IndexKey.id(in: $0.bytes, after: collection.key) }
        self.isBackward = isBackward
    }

    func statement(in database: Database) throws -> RawStatement {
        let statement = try RawStatement(
            database,
            """
            SELECT \(StoreReader.columns) FROM documents d WHERE d.cid = ?1
            \(lower == nil ? "" : "AND d.id >= ?2") \(upper == nil ? "" : "AND d.id <= ?3")
            ORDER BY d.id \(isBackward ? "DESC" : "ASC")
            """
        )
        try statement.bind(1, collection)
        if let lower { try statement.bind(2, lower) }
        if let upper { try statement.bind(3, upper) }
        return statement
    }
}
#endif
