#if SQLite
internal import GRDB
internal import KeelStorageAdapting

struct StoreReader {
    let database: Database
    let catalog: StoreCatalog
    let sealing: BodySealing
    /// Whether results may be cached; false while a transaction may still be rolled back.
    let remembers: Bool
    var generation: Int64?
    var maximumExamined = Int.max

    /// Constant, because joining strings for each document costs more than finding the statement.
    private static let selection =
        "SELECT \(RawStatement.columns) FROM documents d WHERE d.cid = ? AND d.id = ?"

    // MARK: Collections

    func number(of collection: CollectionPath) throws -> Int64? {
        if let generation, let number = catalog.number(of: collection, in: generation) {
            return number
        }
        // With the generation, because a single read has no transaction.
        let statement = try RawStatement(
            database,
            "SELECT cid, (SELECT generation FROM state) FROM collections WHERE path = ?"
        )
        try statement.bind(1, collection.string)
        return try statement.first { row in
            let number = row.integer(0)
            if remembers { catalog.remember(collection, as: number, in: row.integer(1)) }
            return number
        }
    }

    func path(of number: Int64) throws -> CollectionPath {
        if let path = catalog.path(of: number) { return path }
        let statement = try RawStatement(database, "SELECT path FROM collections WHERE cid = ?")
        try statement.bind(1, number)
        guard let string = try statement.first({ $0.text(0) }) else {
            throw StorageError(.corrupted, "a document’s collection is missing from the store")
        }
        let path = CollectionPath(trusted: string)
        if remembers, let generation { catalog.remember(path, as: number, in: generation) }
        return path
    }

    func collections(
        of prepared: PreparedQuery
    ) throws -> [(number: Int64, path: CollectionPath)] {
        var condition = ""
        var bounds: [String] = []
        switch prepared.query.scope {
        case .collection(let path): return try number(of: path).map { [($0, path)] } ?? []
        case .group(let name, _): (condition, bounds) = ("WHERE name = ?", [name])
        case .everything(nil): break
        case .everything(let ancestor?):
            // “0” is the character after “/”.
            condition = "WHERE path >= ? AND path < ?"
            bounds = [ancestor.string + "/", ancestor.string + "0"]
        }
        let statement = try RawStatement(
            database,
            "SELECT cid, path FROM collections \(condition)"
        )
        for (place, bound) in bounds.enumerated() { try statement.bind(Int32(place + 1), bound) }
        var found: [(Int64, CollectionPath)] = []
        try statement.each { row in
            let path = CollectionPath(trusted: row.text(1))
            if prepared.covers(path) { found.append((row.integer(0), path)) }
            return true
        }
        return found
    }

    func collections(
        of prepared: PreparedQuery,
        from first: Int64,
        most count: Int
    ) throws -> (numbers: [Int64], next: Int64?) {
        var condition = ""
        var bounds: [String] = []
        switch prepared.query.scope {
        case .collection(let path):
            return (try number(of: path).map { $0 >= first ? [$0] : [] } ?? [], nil)
        // “+” keeps SQLite from reading all collections with the name in order to sort them.
        case .group(let name, _): (condition, bounds) = ("AND +name = ?", [name])
        case .everything(nil): break
        case .everything(let ancestor?):
            condition = "AND +path >= ? AND +path < ?"
            bounds = [ancestor.string + "/", ancestor.string + "0"]
        }
        let statement = try RawStatement(
            database,
            "SELECT cid, path FROM collections WHERE cid >= ? \(condition) ORDER BY cid"
        )
        try statement.bind(1, first)
        for (place, bound) in bounds.enumerated() { try statement.bind(Int32(place + 2), bound) }
        var numbers: [Int64] = []
        var next: Int64?
        try statement.each { row in
            guard prepared.covers(CollectionPath(trusted: row.text(1))) else { return true }
            guard numbers.count < count else {
                next = row.integer(0)
                return false
            }
            numbers.append(row.integer(0))
            return true
        }
        return (numbers, next)
    }

    func names(under parent: DocumentPath?, asOf time: Int64?) throws -> [String] {
        let prefix = parent.map { $0.string + "/" } ?? ""
        // “0” is the character after “/”: “a0” is the first string after all that begin with “a/”.
        let end = parent.map { $0.string + "0" }
        var names: [String] = []
        // By bytes, because `String` equality would merge canonically equivalent names.
        var visited: Set<[UInt8]> = []
        var next = try firstPath(">=", prefix, before: end)
        // Skips from one name to the next, however many collections are below each.
        while let path = next {
            let name = String(
                decoding: path.utf8.dropFirst(prefix.utf8.count)
                    .prefix { $0 != UInt8(ascii: "/") },
                as: UTF8.self
            )
            let collection = prefix + name
            if visited.insert(Array(name.utf8)).inserted,
                try hasDocuments("path = ?1", collection, asOf: time)
                    || hasDocuments(
                        "path >= ?1 AND path < ?2",
                        collection + "/",
                        collection + "0",
                        asOf: time
                    )
            {
                names.append(name)
            }
            next =
                path.utf8.count == collection.utf8.count
                ? try firstPath(">", path, before: end)
                : try firstPath(">=", collection + "0", before: end)
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private func firstPath(_ sign: String, _ bound: String, before end: String?) throws -> String? {
        let statement = try RawStatement(
            database,
            """
            SELECT path FROM collections WHERE path \(sign) ?1 \(end == nil ? "" : "AND path < ?2")
            ORDER BY path LIMIT 1
            """
        )
        try statement.bind(1, bound)
        if let end { try statement.bind(2, end) }
        return try statement.first { $0.text(0) }
    }

    /// Returns whether a collection in a range of paths has documents, at a time or at present.
    private func hasDocuments(
        _ range: String,
        _ bounds: String...,
        asOf time: Int64?
    ) throws -> Bool {
        let condition = time == nil ? Self.presentDocuments : Self.pastDocuments
        let statement = try RawStatement(
            database,
            "SELECT 1 FROM collections WHERE \(range) AND \(condition) LIMIT 1"
        )
        for (index, bound) in bounds.enumerated() { try statement.bind(Int32(index + 1), bound) }
        // Bound, because each text is a statement that its connection keeps.
        if let time { try statement.bind(3, time) }
        return try statement.first { _ in true } ?? false
    }

    private static let presentDocuments =
        "EXISTS (SELECT 1 FROM documents WHERE documents.cid = collections.cid)"

    private static let pastDocuments = """
        (EXISTS (
            SELECT 1 FROM documents d WHERE d.cid = collections.cid AND NOT EXISTS (
                SELECT 1 FROM history h
                WHERE h.cid = d.cid AND h.id = d.id AND h.time > ?3
            )
        ) OR EXISTS (
            SELECT 1 FROM history h
            WHERE h.cid = collections.cid AND h.time > ?3 AND h.body IS NOT NULL
            AND NOT EXISTS (
                SELECT 1 FROM history e WHERE e.cid = h.cid AND e.id = h.id
                AND e.time > ?3 AND e.time < h.time
            )
        ))
        """

    // MARK: Documents

    func selection(of path: DocumentPath, in collection: Int64) throws -> RawStatement {
        let statement = try RawStatement(database, Self.selection)
        try statement.bind(1, collection)
        try statement.bind(2, path.id)
        return statement
    }

    /// Returns a document to be overwritten; nil if it is missing.
    ///
    /// An unreadable document has an empty body and the reason.
    func stored(
        at path: DocumentPath,
        in collection: Int64
    ) throws -> (row: Int64, document: Document, failure: StorageError?)? {
        try selection(of: path, in: collection).first { statement in
            let row = statement.row()
            do throws(StorageError) {
                return (row.number, try row.document(at: path, openedBy: sealing), nil)
            } catch {
                let empty = row.document(at: path, with: DocumentBody(bytes: []))
                return (row.number, empty, error)
            }
        }
    }

    func document(at path: DocumentPath) throws -> Document? {
        let known = catalog.number(of: path.collection, in: generation)
        if let known, let found = try document(at: path, in: known) { return found }
        // Without the generation, the known number may be outdated.
        guard known == nil || generation == nil, let number = try number(of: path.collection),
            number != known
        else { return nil }
        return try document(at: path, in: number)
    }

    private func document(at path: DocumentPath, in collection: Int64) throws -> Document? {
        try selection(of: path, in: collection).first {
            try $0.row().document(at: path, openedBy: sealing)
        }
    }

    // MARK: Indexes

    func indexes(_ generation: Int64) throws -> IndexSet {
        if let known = catalog.indexes(of: generation) { return known }
        let indexes = IndexSet(
            generation: generation,
            all: try storedIndexes(),
            historyAge: try StoredHistory(database)?.age
        )
        if remembers { catalog.remember(indexes) }
        return indexes
    }

    func storedIndexes() throws -> [StoredIndex] {
        let statement = try RawStatement(
            database,
            """
            SELECT ix, definition, built FROM indexes
            WHERE built IS NULL OR built <> \(IndexBuild.dropped) ORDER BY ix
            """
        )
        var all: [StoredIndex] = []
        try statement.each { row in
            all.append(
                try StoredIndex(
                    number: row.integer(0),
                    definition: row.bytes(1),
                    built: row.isNull(2) ? nil : row.integer(2)
                )
            )
            return true
        }
        return all
    }
}
#endif
