#if PostgreSQL
internal import KeelStorageAdapting

extension TableSnapshot: StoreSnapshot {
    // MARK: By path

    func eachDocument(
        at paths: [DocumentPath],
        asOf time: Int64?,
        _ take: (Int, borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        var size = PageSize(expecting: paths.count)
        var start = 0
        while start < paths.count {
            let page = paths[start..<min(start + size.count, paths.count)]
            let rows = try run(Self.selection(isPast: time != nil)) {
                let numbers = page.map { catalog.number(of: $0.collection) }
                $0.add(numbers)
                // The path of a collection with a known number is not needed.
                $0.add(zip(page, numbers).map { $1 == nil ? Array($0.collection.string.utf8) : [] })
                $0.add(names: page.map(\.id))
                if let time { $0.add(time) }
            }
            // A single statement reads no tail: the numbers may be those of former tables.
            if let row = rows.first { try connection.check(tables: row.integer(8)) }
            var bytes = 0
            // The server returns rows in any order.
            for row in rows.sorted(by: { $0.integer(7) < $1.integer(7) }) where !row.isNull(6) {
                let position = start + Int(row.integer(7)) - 1
                bytes += row.buffer(6).count
                if remembers { catalog.remember(paths[position].collection, as: row.integer(1)) }
                guard try row.withStored({ try take(position, $0) }) else { return false }
            }
            start += page.count
            size.advance(past: bytes)
        }
        return true
    }

    /// The paths `p` of a statement that looks documents up, and their collections `c`.
    ///
    /// Each look-up needs a limit: without statistics, the server would rather read the whole collection for each path.
    static let paths = """
        FROM unnest($2::bigint[], $3::bytea[], $4::bytea[]) WITH ORDINALITY AS p(cid, path, id, n)
        LEFT JOIN LATERAL (
            SELECT p.cid WHERE p.cid IS NOT NULL
            UNION ALL
            SELECT cid FROM keel.collections
            WHERE p.cid IS NULL AND store = $1
            AND substring(path FROM 1 FOR 2000) = substring(p.path FROM 1 FOR 2000) AND path = p.path
        ) c ON true
        """

    /// Returns the statement that looks documents up by their paths, with a row for each path.
    static func selection(isPast: Bool) -> String {
        let present = """
            SELECT did, cid, id, rev, created, updated, body FROM keel.documents
            WHERE store = $1 AND cid = c.cid AND id = p.id
            """
        let image = """
            SELECT did, cid, id, rev, created, updated, body FROM keel.history
            WHERE store = $1 AND cid = c.cid AND id = p.id AND time > $5 ORDER BY time LIMIT 1
            """
        // The earliest later image has the state at a past time, even if the document was missing then.
        let document =
            isPast
            ? """
            SELECT * FROM (SELECT 1 AS rank, i.* FROM (\(image)) i UNION ALL SELECT 2, e.* FROM (\(present)) e) s
            ORDER BY rank LIMIT 1
            """ : present
        return """
            SELECT \(columns), p.n, 'keel.stores'::regclass::bigint
            \(paths)
            LEFT JOIN LATERAL (\(isPast ? document : document + " LIMIT 1")) d ON true
            """
    }

    // MARK: Whole collections

    func eachDocument(
        of collections: [Int64],
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        try eachRow(
            of: collections,
            """
            SELECT \(Self.columns) FROM keel.documents d
            WHERE d.store = $1 AND d.cid = c.cid AND d.id > c.id ORDER BY d.id LIMIT $5
            """,
            { _ in },
            take
        )
    }

    /// Reads rows of collections, one collection after the other.
    ///
    /// The selection is a statement for at most `$5` documents of the collection `c.cid`, in the order of their ids
    /// after `c.id` or of their numbers after `c.did`. Its own arguments begin with `$6`.
    private func eachRow(
        of collections: [Int64],
        _ selection: String,
        _ add: (inout StatementArguments) -> Void,
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        var places: [Int64: Int] = [:]
        for (place, collection) in collections.enumerated() { places[collection] = place }
        var place = 0
        return try eachPage(expecting: nil) { count, last in
            // The collections that are left, of which the first has been read up to a document.
            if let last { place = places[last.integer(1)] ?? place }
            let left = collections[place...]
            let numbers: [Int64] = left.indices.map { $0 == place ? last?.integer(0) ?? 0 : 0 }
            return try run(
                """
                SELECT d.* FROM unnest($2::bigint[], $3::bytea[], $4::bigint[]) AS c(cid, id, did)
                CROSS JOIN LATERAL (\(selection)) d LIMIT $5
                """
            ) {
                $0.add(left)
                $0.add(left.indices.map { $0 == place ? last?.bytes(2) ?? [] : [] })
                $0.add(numbers)
                $0.add(Int64(count))
                add(&$0)
            }
        } _: { row in
            // The pages continue after their last row, so rows must come in the order of the collections.
            let next = places[row.integer(1)] ?? 0
            guard next >= place else {
                throw StorageError(.unknown, "PostgreSQL returned collections in another order")
            }
            place = next
            return try row.withStored(take)
        }
    }

    // MARK: Ranges of an index

    func eachDocument(
        in stretch: IndexStretch,
        expecting expected: Int?,
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        try eachPage(expecting: expected) { count, last in
            try run(
                Self.range(
                    isBounded: stretch.firstBehind != nil,
                    isBackward: stretch.isBackward,
                    isContinued: last != nil
                )
            ) {
                stretch.add(count, to: &$0)
                guard let last else { return }
                $0.add(last.bytes(7))
                $0.add(last.integer(0))
            }
        } _: { row in
            try row.withStored(keyLength: row.buffer(7).count, take)
        }
    }

    static func range(isBounded: Bool, isBackward: Bool, isContinued: Bool) -> String {
        let (sign, direction) = isBackward ? ("<", "DESC") : (">", "ASC")
        let next = isBounded ? 7 : 6
        return """
            SELECT \(columns), e.key
            FROM keel.entries e JOIN keel.documents d ON d.store = $1 AND d.did = e.did
            WHERE e.store = $1 \(entryConditions(isBounded: isBounded))
            \(isContinued ? "AND (e.key, e.did) \(sign) ($\(next), $\(next + 1))" : "")
            ORDER BY e.key \(direction), e.did \(direction) LIMIT $2
            """
    }

    /// Returns the conditions on the entries `e` of a range, with arguments from `$3` on.
    private static func entryConditions(isBounded: Bool) -> String {
        "AND e.ix = $3 AND e.cid = $4 AND e.key >= $5 \(isBounded ? "AND e.key < $6" : "")"
    }

    func count(of stretch: IndexStretch, upTo most: Int) throws -> Int {
        let rows = try run(
            """
            SELECT count(*) FROM (
                SELECT 1 FROM keel.entries e
                WHERE e.store = $1 \(Self.entryConditions(isBounded: stretch.firstBehind != nil)) LIMIT $2
            ) c
            """
        ) { stretch.add(most, to: &$0) }
        return Int(rows.first?.integer(0) ?? 0)
    }

    // MARK: Ranges of ids

    func eachDocument(
        in stretch: IdentifierStretch,
        after offset: Int,
        expecting expected: Int?,
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        let (sign, direction) = stretch.isBackward ? ("<", "DESC") : (">", "ASC")
        return try eachPage(expecting: expected) { count, last in
            let next = stretch.bounds.count + 4
            return try run(
                """
                SELECT \(Self.columns) FROM keel.documents d
                WHERE d.store = $1 \(stretch.conditions)
                \(last == nil ? "" : "AND d.id \(sign) $\(next)")
                ORDER BY d.id \(direction) LIMIT $2 \(last == nil && offset > 0 ? "OFFSET $\(next)" : "")
                """
            ) {
                stretch.add(count, to: &$0)
                if let last {
                    $0.add(last.bytes(2))
                } else if offset > 0 {
                    $0.add(Int64(offset))
                }
            }
        } _: {
            try $0.withStored(take)
        }
    }

    func count(of stretch: IdentifierStretch, upTo most: Int) throws -> Int {
        let rows = try run(
            """
            SELECT count(*) FROM (
                SELECT 1 FROM keel.documents d WHERE d.store = $1 \(stretch.conditions) LIMIT $2
            ) c
            """
        ) { stretch.add(most, to: &$0) }
        return Int(rows.first?.integer(0) ?? 0)
    }

    // MARK: The past

    func eachImage(
        of collections: [Int64]?,
        after time: Int64,
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        if let collections {
            return try eachRow(
                of: collections,
                """
                SELECT DISTINCT ON (d.id) \(Self.columns) FROM keel.history d
                WHERE d.store = $1 AND d.cid = c.cid AND d.id > c.id AND d.time > $6
                ORDER BY d.id, d.time LIMIT $5
                """,
                { $0.add(time) },
                take
            )
        }
        return try eachPage(expecting: nil) { count, last in
            try run(
                """
                SELECT DISTINCT ON (d.cid, d.id) \(Self.columns) FROM keel.history d
                WHERE d.store = $1 AND (d.cid, d.id) > ($2, $3) AND d.time > $5
                ORDER BY d.cid, d.id, d.time LIMIT $4
                """
            ) {
                $0.add(last?.integer(1) ?? 0)
                $0.add(last?.bytes(2) ?? [])
                $0.add(Int64(count))
                $0.add(time)
            }
        } _: {
            try $0.withStored(take)
        }
    }

    // MARK: Words

    func eachDocument(
        matching search: SearchFilter,
        in index: StoredIndex,
        of collections: [Int64],
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        let words = WordSearch(search, in: index)
        return try eachRow(of: collections, words.sql, words.add(to:), take)
    }
}

extension IndexStretch {
    /// Adds a limit, `$2`, and the arguments of the conditions.
    fileprivate func add(_ most: Int, to arguments: inout StatementArguments) {
        arguments.add(Int64(most))
        arguments.add(index)
        arguments.add(collection)
        arguments.add(first)
        if let firstBehind { arguments.add(firstBehind) }
    }
}

extension IdentifierStretch {
    /// The conditions on the documents `d`, with arguments from `$3` on.
    fileprivate var conditions: String {
        let bounds = bounds.enumerated().map { "AND d.id \($0.element.sign) $\($0.offset + 4)" }
        return "AND d.cid = $3 " + bounds.joined(separator: " ")
    }

    /// Adds a limit, `$2`, and the arguments of the conditions.
    fileprivate func add(_ most: Int, to arguments: inout StatementArguments) {
        arguments.add(Int64(most))
        arguments.add(collection)
        for bound in bounds { arguments.add(bound.id.utf8) }
    }
}
#endif
