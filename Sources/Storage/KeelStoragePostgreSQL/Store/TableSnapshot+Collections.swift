#if PostgreSQL
internal import KeelStorageAdapting

extension TableSnapshot: CollectionDirectory {
    /// Returns the number of a collection; nil if it never had a document.
    func number(of collection: CollectionPath) throws -> Int64? {
        if let number = catalog.number(of: collection) { return number }
        let rows = try run(
            """
            SELECT cid FROM keel.collections WHERE store = $1
            AND substring(path FROM 1 FOR 2000) = substring($2 FROM 1 FOR 2000) AND path = $2
            """
        ) { $0.add(collection.string.utf8) }
        guard let number = rows.first?.integer(0) else { return nil }
        if remembers { catalog.remember(collection, as: number) }
        return number
    }

    func path(of number: Int64) throws -> CollectionPath {
        if let path = catalog.path(of: number) { return path }
        let rows = try run("SELECT path FROM keel.collections WHERE store = $1 AND cid = $2") {
            $0.add(number)
        }
        guard let row = rows.first else {
            throw StorageError(.corrupted, "a document’s collection is missing from the store")
        }
        let path = CollectionPath(trusted: row.text(0))
        if remembers { catalog.remember(path, as: number) }
        return path
    }

    func collections(
        of prepared: PreparedQuery
    ) throws -> [(number: Int64, path: CollectionPath)] {
        let rows: DatabaseRows
        switch prepared.query.scope {
        case .collection(let path):
            return try number(of: path).map { [($0, path)] } ?? []
        case .group(let name, _):
            rows = try run("SELECT cid, path FROM keel.collections WHERE store = $1 AND name = $2")
            {
                $0.add(name.utf8)
            }
        case .everything(nil):
            rows = try run("SELECT cid, path FROM keel.collections WHERE store = $1")
        case .everything(let ancestor?):
            rows = try run(
                """
                SELECT cid, path FROM keel.collections WHERE store = $1
                AND substring(path FROM 1 FOR 2000) >= substring($2 FROM 1 FOR 2000)
                AND substring(path FROM 1 FOR 2000) <= substring($3 FROM 1 FOR 2000)
                AND path >= $2 AND path < $3
                """
            ) {
                // “0” is the character after “/”.
                $0.add((ancestor.string + "/").utf8)
                $0.add((ancestor.string + "0").utf8)
            }
        }
        return rows.map { ($0.integer(0), CollectionPath(trusted: $0.text(1))) }
            .filter { prepared.covers($0.1) }
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
        case .group(let name, _): (condition, bounds) = ("AND name = $4", [name])
        case .everything(nil): break
        case .everything(let ancestor?):
            condition = "AND path >= $4 AND path < $5"
            bounds = [ancestor.string + "/", ancestor.string + "0"]
        }
        let rows = try run(
            """
            SELECT cid, path FROM keel.collections WHERE store = $1 AND cid >= $2 \(condition)
            ORDER BY cid LIMIT $3
            """
        ) {
            $0.add(first)
            $0.add(Int64(count + 1))
            for bound in bounds { $0.add(bound.utf8) }
        }
        let found = rows.map { (number: $0.integer(0), path: $0.text(1)) }
        let next = found.count > count ? found.last?.number : nil
        return (
            found.prefix(count).filter { prepared.covers(CollectionPath(trusted: $0.path)) }
                .map(\.number), next
        )
    }

    func hasKeys(named name: String?) -> Bool { true }

    func page(
        named name: String?,
        in range: KeyRange,
        isBackward: Bool,
        most: Int
    ) throws -> [GroupOrder.Member] {
        let end = range.firstBehind
        // The length of the key prefixes in the index of the collections with a name, or of all collections.
        let length = name == nil ? 2000 : 1000
        let direction = isBackward ? "DESC" : "ASC"
        let start = "substring(key FROM 1 FOR \(length))"
        let upper =
            end == nil ? "" : "AND \(start) <= substring($4 FROM 1 FOR \(length)) AND key < $4"
        let rows = try run(
            """
            SELECT cid, path, key FROM keel.collections
            WHERE store = $1 \(name == nil ? "" : "AND name = $\(end == nil ? 4 : 5)")
            AND \(start) >= substring($2 FROM 1 FOR \(length)) AND key >= $2 \(upper)
            ORDER BY \(start) \(direction), key \(direction) LIMIT $3
            """
        ) {
            $0.add(range.first)
            $0.add(Int64(most))
            if let end { $0.add(end) }
            if let name { $0.add(name.utf8) }
        }
        return rows.map { row in
            GroupOrder.Member(
                number: row.integer(0),
                path: CollectionPath(trusted: row.text(1)),
                key: row.bytes(2)
            )
        }
    }

    // MARK: Names

    func names(under parent: DocumentPath?, asOf time: Int64?) throws -> [String] {
        let prefix = Array((parent.map { $0.string + "/" } ?? "").utf8)
        let end = parent.map { Array(($0.string + "0").utf8) }
        var names: [[UInt8]: Bool] = [:]
        var bound = prefix
        // Grows while nothing can be skipped: the server looks for a document of each path.
        var count = Self.firstPaths
        while true {
            let rows = try paths(from: bound, before: end, most: count, asOf: time)
            for row in rows {
                let name = Array(
                    row.bytes(0).dropFirst(prefix.count).prefix { $0 != UInt8(ascii: "/") }
                )
                names[name] = names[name] == true || row.boolean(1)
            }
            guard rows.count == count else { break }
            let path = rows[count - 1].bytes(0)
            let name = Array(path.dropFirst(prefix.count).prefix { $0 != UInt8(ascii: "/") })
            // Skips the rest below a name that is known, however many collections there are.
            let isBelow = path.count > prefix.count + name.count
            let canSkip = isBelow && names[name] == true
            bound = canSkip ? prefix + name + Array("0".utf8) : path + [0]
            if !canSkip { count = min(4 * count, Self.mostPaths) }
        }
        return names.filter(\.value).keys.sorted { $0.lexicographicallyPrecedes($1) }
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// The number of paths to read at first, and the largest.
    private static let firstPaths = 8
    private static let mostPaths = 500

    private func paths(
        from first: [UInt8],
        before end: [UInt8]?,
        most count: Int,
        asOf time: Int64?
    ) throws -> DatabaseRows {
        let start = "substring(path FROM 1 FOR 2000)"
        let upper =
            end == nil ? "" : "AND \(start) <= substring($4 FROM 1 FOR 2000) AND path < $4"
        let isFull =
            time == nil
            ? "(SELECT true FROM keel.documents d WHERE d.store = $1 AND d.cid = c.cid LIMIT 1)"
            : Self.wasFull(at: end == nil ? "$4" : "$5")
        return try run(
            """
            SELECT path, \(isFull) FROM keel.collections c
            WHERE store = $1 AND \(start) >= substring($2 FROM 1 FOR 2000) AND path >= $2 \(upper)
            ORDER BY \(start), path LIMIT $3
            """
        ) {
            $0.add(first)
            $0.add(Int64(count))
            if let end { $0.add(end) }
            if let time { $0.add(time) }
        }
    }

    private static func wasFull(at time: String) -> String {
        // With EXISTS, the server might read the documents or images of all collections at once.
        """
        (SELECT true FROM keel.documents d WHERE d.store = $1 AND d.cid = c.cid AND (
            SELECT true FROM keel.history h
            WHERE h.store = $1 AND h.cid = d.cid AND h.id = d.id AND h.time > \(time) LIMIT 1
        ) IS NULL LIMIT 1) IS TRUE
        OR (SELECT true FROM keel.history h
        WHERE h.store = $1 AND h.cid = c.cid AND h.time > \(time) AND h.body IS NOT NULL AND (
            SELECT true FROM keel.history e
            WHERE e.store = $1 AND e.cid = h.cid AND e.id = h.id AND e.time > \(time) AND e.time < h.time LIMIT 1
        ) IS NULL LIMIT 1) IS TRUE
        """
    }
}
#endif
