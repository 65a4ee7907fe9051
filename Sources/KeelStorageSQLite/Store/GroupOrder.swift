#if SQLite
internal import GRDB
internal import KeelStorage

/// A stretch of a collection in the order of its ids.
struct IdentifierStretch {
    private let collection: Int64
    private let isBackward: Bool
    /// The bounds, each with the sign that a document's id has to it.
    private let bounds: [(sign: String, id: String)]

    /// - Parameters:
    ///   - member: The collection.
    ///   - range: The range of paths' keys.
    ///   - first: The id behind which the stretch begins.
    ///   - last: The last id of the stretch.
    ///   - isBackward: Whether it is read from its end.
    fileprivate init(
        _ member: GroupOrder.Member,
        in range: KeyRange,
        behind first: String?,
        upTo last: String?,
        isBackward: Bool
    ) {
        collection = member.number
        self.isBackward = isBackward
        let lower = Self.bound(range.lower, in: member).map { ($0.isBehind ? ">=" : ">", $0.id) }
        let upper = Self.bound(range.upper, in: member).map { ($0.isBehind ? "<" : "<=", $0.id) }
        bounds = [lower, first.map { (">", $0) }, upper, last.map { ("<=", $0) }].compactMap(\.self)
    }

    /// The id at which a cut between paths' keys lies, and whether the document of that id is behind it.
    private static func bound(
        _ cut: KeyRange.Cut?,
        in member: GroupOrder.Member
    ) -> (id: String, isBehind: Bool)? {
        guard let cut, let id = IndexKey.id(in: cut.bytes, after: member.key) else { return nil }
        var own = member.key
        IndexKey.append(id: id, to: &own)
        let isBehind = cut.firstKeyBehind.map { !own.lexicographicallyPrecedes($0) } ?? false
        return (id, isBehind)
    }

    /// The statement that reads the documents, ready to run.
    ///
    /// - Parameters:
    ///   - offset: How many documents at the beginning are passed over.
    ///   - database: The connection.
    /// - Returns: The statement, with the columns of ``StoreReader``.
    /// - Throws: What SQLite throws.
    func statement(passing offset: Int, in database: Database) throws -> RawStatement {
        let passing = offset > 0 ? "LIMIT -1 OFFSET ?" : ""
        let statement = try RawStatement(
            database,
            """
            SELECT \(StoreReader.columns) FROM documents d WHERE d.cid = ? \(conditions)
            ORDER BY d.id \(isBackward ? "DESC" : "ASC") \(passing)
            """
        )
        let next = try bind(statement)
        if offset > 0 { try statement.bind(next, offset) }
        return statement
    }

    /// How many documents there are, up to a number; none of them is read.
    func count(upTo most: Int, in database: Database) throws -> Int {
        let statement = try RawStatement(
            database,
            """
            SELECT count(*) FROM
            (SELECT 1 FROM documents d WHERE d.cid = ? \(conditions) LIMIT ?)
            """
        )
        try statement.bind(try bind(statement), most)
        return try statement.first { Int($0.integer(0)) } ?? 0
    }

    private var conditions: String {
        bounds.map { "AND d.id \($0.sign) ?" }.joined(separator: " ")
    }

    /// Binds the collection and the bounds.
    ///
    /// - Returns: The place of the next argument.
    private func bind(_ statement: RawStatement) throws -> Int32 {
        try statement.bind(1, collection)
        for (index, bound) in bounds.enumerated() {
            try statement.bind(Int32(index + 2), bound.id)
        }
        return Int32(bounds.count + 2)
    }
}

/// The documents of a query's collections in the order of their paths, as stretches that follow each other.
///
/// The collections come one after the other by their keys, a page at a time. Those below a document, of
/// the same name or for a query over everything of any, have their place between that document and the next
/// one of its collection: the collection around them stays open meanwhile.
struct GroupOrder {
    struct Member {
        let number: Int64
        let path: CollectionPath
        let key: [UInt8]
    }

    private struct Open {
        let member: Member
        /// Forward, the last id that has been passed; backward, the last one that is left; nil at first.
        var bound: String?
    }

    static let index = "CREATE INDEX collections_by_key ON collections(name, key);"
    /// The index for queries over everything.
    static let orderName = "collections_in_order"
    static let order = "CREATE INDEX IF NOT EXISTS \(orderName) ON collections(key);"

    private static let mostInPage = 200

    private let reader: StoreReader
    private let prepared: PreparedQuery
    private let range: KeyRange
    private let isBackward: Bool
    /// The name of the collections; nil for those of any name.
    private let name: String?
    /// How many collections the next page has: a query for a few documents needs few.
    private var pageSize = 8
    /// The collections that were read and have not been reached, the next one last.
    private var waiting: [Member] = []
    /// Where the next page begins, or backward ends; nil when there is none.
    private var following: KeyRange?
    /// Backward, the collections around the beginning of the range, the outermost first: they come last.
    private var around: [Member] = []
    private var open: [Open] = []
    /// What was found and not yet returned, the next one last.
    private var stretches: [IdentifierStretch] = []

    init(
        _ prepared: PreparedQuery,
        in range: KeyRange,
        isBackward: Bool,
        _ reader: StoreReader
    ) throws {
        self.reader = reader
        self.prepared = prepared
        self.range = range
        self.isBackward = isBackward
        if case .group(let name, _) = prepared.query.scope { self.name = name } else { name = nil }
        // Its bounds need not lie in one collection, which would then have only one of them.
        guard !range.isEmpty else { return }
        let isSingle = if case .collection = prepared.query.scope { true } else { false }
        guard !isSingle, try Self.hasKeys(of: name, reader) else {
            let all = try reader.collections(of: prepared).map { number, path in
                Member(number: number, path: path, key: IndexKey.key(ofAllIn: path))
            }
            .filter { member in
                let own = KeyRange(from: .before(member.key), to: .after(member.key))
                return !own.intersection(range).isEmpty
            }
            waiting = all.sorted { one, other in
                let precedes = one.key.lexicographicallyPrecedes(other.key)
                return isBackward ? precedes : !precedes && one.key != other.key
            }
            return
        }
        following = range
        guard let lower = range.lower else { return }
        // Those around the beginning have keys before it.
        let paths = IndexKey.collections(in: lower.bytes)
        for path in paths where prepared.covers(path) {
            let key = IndexKey.key(ofAllIn: path)
            guard key.lexicographicallyPrecedes(range.first),
                let number = try reader.number(of: path)
            else { continue }
            let member = Member(number: number, path: path, key: key)
            guard !isBackward else {
                around.append(member)
                continue
            }
            // In an outer one the documents up to that of the inner one lie before the range.
            let id = path == paths.last ? nil : IndexKey.id(in: lower.bytes, after: key)
            open.append(Open(member: member, bound: id))
        }
    }

    /// The next stretch; nil at the end.
    mutating func next() throws -> IdentifierStretch? {
        while stretches.isEmpty {
            guard let member = try nextMember() else {
                guard let last = open.popLast() else { return nil }
                close(last)
                continue
            }
            if isBackward { try passBackward(member) } else { passForward(member) }
        }
        return stretches.popLast()
    }

    // MARK: Forward

    private mutating func passForward(_ member: Member) {
        var found: [IdentifierStretch] = []
        while let last = open.last, !member.key.starts(with: last.member.key) {
            open.removeLast()
            found.append(stretch(last.member, behind: last.bound))
        }
        if var last = open.popLast() {
            let id = IndexKey.id(in: member.key, after: last.member.key)
            if !Self.same(id, last.bound) {
                found.append(stretch(last.member, behind: last.bound, upTo: id))
            }
            last.bound = id
            open.append(last)
        }
        open.append(Open(member: member))
        stretches = found.reversed()
    }

    // MARK: Backward

    private mutating func passBackward(_ member: Member) throws {
        var found: [IdentifierStretch] = []
        // Its own end was passed when the first collection below it came.
        if let last = open.last, last.member.number == member.number {
            open.removeLast()
            stretches = [stretch(member, upTo: last.bound)]
            return
        }
        while let last = open.last, !member.key.starts(with: last.member.key) {
            open.removeLast()
            found.append(stretch(last.member, upTo: last.bound))
        }
        for path in IndexKey.collections(in: member.key).dropLast() where prepared.covers(path) {
            let key = IndexKey.key(ofAllIn: path)
            let id = IndexKey.id(in: member.key, after: key)
            if let position = open.firstIndex(where: { $0.member.key == key }) {
                if !Self.same(open[position].bound, id) {
                    found.append(
                        stretch(open[position].member, behind: id, upTo: open[position].bound)
                    )
                }
                open[position].bound = id
            } else if let number = try reader.number(of: path) {
                let outer = Member(number: number, path: path, key: key)
                found.append(stretch(outer, behind: id))
                open.append(Open(member: outer, bound: id))
            }
        }
        found.append(stretch(member))
        stretches = found.reversed()
    }

    /// Whether two ids have the same bytes; equal texts can be written with others.
    private static func same(_ one: String?, _ other: String?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return StoredName.same(one, other)
    }

    // MARK: Collections

    private mutating func close(_ last: Open) {
        stretches = [
            isBackward
                ? stretch(last.member, upTo: last.bound) : stretch(last.member, behind: last.bound)
        ]
    }

    private func stretch(
        _ member: Member,
        behind first: String? = nil,
        upTo last: String? = nil
    ) -> IdentifierStretch {
        IdentifierStretch(member, in: range, behind: first, upTo: last, isBackward: isBackward)
    }

    private mutating func nextMember() throws -> Member? {
        while waiting.isEmpty, let range = following { try readPage(of: range) }
        return waiting.popLast() ?? around.popLast()
    }

    private mutating func readPage(of range: KeyRange) throws {
        following = nil
        guard !range.isEmpty else { return }
        let size = pageSize
        pageSize = min(2 * size, Self.mostInPage)
        let end = range.firstBehind
        let statement = try RawStatement(
            reader.database,
            """
            SELECT cid, path, key FROM collections
            WHERE \(name == nil ? "" : "name = ?4 AND") key >= ?1 \(end == nil ? "" : "AND key < ?2")
            ORDER BY key \(isBackward ? "DESC" : "ASC") LIMIT ?3
            """
        )
        try statement.bind(1, range.first)
        if let end { try statement.bind(2, end) }
        try statement.bind(3, size)
        if let name { try statement.bind(4, name) }
        var last: [UInt8]?
        var count = 0
        var page: [Member] = []
        try statement.each { row in
            count += 1
            let key = row.bytes(2)
            last = key
            let path = CollectionPath(trusted: row.text(1))
            if prepared.covers(path) {
                page.append(Member(number: row.integer(0), path: path, key: key))
            }
            return true
        }
        waiting = page.reversed()
        guard count == size, let last else { return }
        following =
            isBackward
            ? KeyRange(from: range.lower, to: .before(last))
            : KeyRange(from: .before(last + [0]), to: range.upper)
    }

    // MARK: Keys

    /// Whether all collections of a name, or all there are, have keys: an earlier version of Keel writes
    /// none.
    private static func hasKeys(of name: String?, _ reader: StoreReader) throws -> Bool {
        // A file that is only read stays as that version has left it.
        guard try reader.catalog.hasKeys(in: reader.database) else { return false }
        let statement = try RawStatement(
            reader.database,
            """
            SELECT 1 FROM collections WHERE \(name == nil ? "" : "name = ? AND") key IS NULL LIMIT 1
            """
        )
        if let name { try statement.bind(1, name) }
        return try statement.first { _ in false } ?? true
    }

    /// Adds the keys to a file of an earlier version, inside of a write transaction.
    static func addKeys(in database: Database) throws {
        try database.execute(sql: "ALTER TABLE collections ADD COLUMN key BLOB")
        let all = try RawStatement(database, "SELECT cid, path FROM collections")
        var keys: [(Int64, [UInt8])] = []
        try all.each { row in
            keys.append(
                (row.integer(0), IndexKey.key(ofAllIn: CollectionPath(trusted: row.text(1))))
            )
            return true
        }
        let update = try RawStatement(database, "UPDATE collections SET key = ? WHERE cid = ?")
        for (number, key) in keys {
            try update.bind(1, key)
            try update.bind(2, number)
            try update.run()
        }
        try database.execute(sql: "DROP INDEX IF EXISTS collections_by_name")
        try database.execute(sql: index)
    }
}
#endif
