import KeelStorageAdapting

/// A store in memory that answers with sets of rows, as an SQL engine does.
struct TableSnapshot: StoreSnapshot {
    let sealing = BodySealing(sealing: nil)
    let isCancellable = true
    let indexes: [StoredIndex]
    private let documents: [Document]
    private let collections: [CollectionPath]
    /// The entries of each index by its number, in the order of their keys.
    private var entries: [Int64: [(collection: Int64, key: [UInt8], row: Int)]] = [:]

    init(_ documents: [Document], _ definitions: [IndexDefinition]) throws {
        self.documents = documents
        collections = Array(Set(documents.map(\.path.collection))).sorted()
        indexes = try definitions.enumerated().map { number, definition in
            let kind = StoredIndex.Kind.fields(definition)
            return try StoredIndex(number: Int64(number), definition: kind.encoded, built: nil)
        }
        for (index, definition) in zip(indexes, definitions) {
            for (row, document) in documents.enumerated()
            where document.path.collection.name == definition.collection {
                let collection = number(of: document.path.collection) ?? 0
                for var key in index.keys(of: document.body) {
                    definition.append(document.path, to: &key)
                    entries[index.number, default: []]
                        .append((index.entryCollection(collection), key, row))
                }
            }
            entries[index.number]?.sort { $0.key.lexicographicallyPrecedes($1.key) }
        }
    }

    // MARK: Collections

    func number(of collection: CollectionPath) -> Int64? {
        collections.firstIndex(of: collection).map { Int64($0 + 1) }
    }

    func path(of number: Int64) -> CollectionPath { collections[Int(number - 1)] }

    func collections(of prepared: PreparedQuery) -> [(number: Int64, path: CollectionPath)] {
        collections.enumerated().filter { prepared.covers($0.element) }
            .map { (Int64($0.offset + 1), $0.element) }
    }

    func hasKeys(named name: String?) -> Bool { false }

    func page(
        named name: String?,
        in range: KeyRange,
        isBackward: Bool,
        most: Int
    ) -> [GroupOrder.Member] { [] }

    func names(under parent: DocumentPath?, asOf time: Int64?) -> [String] { [] }

    // MARK: Rows

    private func hand(
        _ row: Int,
        keyLength: Int = 0,
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        let document = documents[row]
        return try Array(document.id.utf8).withUnsafeBytes { id in
            try document.body.bytes.withUnsafeBytes { body in
                try take(
                    StoredRow(
                        number: Int64(row),
                        collection: number(of: document.path.collection) ?? 0,
                        id: id,
                        revision: document.revision.number,
                        created: document.createTime.microseconds,
                        updated: document.updateTime.microseconds,
                        body: body,
                        keyLength: keyLength
                    )
                )
            }
        }
    }

    private func hand(_ rows: [Int], _ take: (borrowing StoredRow) throws -> Bool) throws -> Bool {
        try rows.allSatisfy { try hand($0, take) }
    }

    func eachDocument(
        at paths: [DocumentPath],
        asOf time: Int64?,
        _ take: (Int, borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        for (position, path) in paths.enumerated() {
            guard let row = documents.firstIndex(where: { $0.path == path }) else { continue }
            guard try hand(row, { try take(position, $0) }) else { return false }
        }
        return true
    }

    func eachDocument(
        of collections: [Int64],
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        let rows = documents.indices.filter { row in
            number(of: documents[row].path.collection).map(collections.contains) ?? false
        }
        return try hand(Array(rows), take)
    }

    func eachDocument(
        matching search: SearchFilter,
        in index: StoredIndex,
        of collections: [Int64],
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        try eachDocument(of: collections) { row in
            guard search.matches(try document(row)) else { return true }
            return try take(row)
        }
    }

    // MARK: Ranges

    private func entries(in stretch: IndexStretch) -> [(key: [UInt8], row: Int)] {
        (entries[stretch.index] ?? [])
            .filter { entry in
                entry.collection == stretch.collection
                    && !entry.key.lexicographicallyPrecedes(stretch.first)
                    && (stretch.firstBehind.map(entry.key.lexicographicallyPrecedes) ?? true)
            }
            .map { ($0.key, $0.row) }
    }

    func eachDocument(
        in stretch: IndexStretch,
        expecting count: Int?,
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        let found = entries(in: stretch)
        return try (stretch.isBackward ? found.reversed() : found).allSatisfy { entry in
            try hand(entry.row, keyLength: entry.key.count, take)
        }
    }

    func count(of stretch: IndexStretch, upTo most: Int) -> Int {
        min(most, entries(in: stretch).count)
    }

    private func rows(in stretch: IdentifierStretch) -> [Int] {
        let found = documents.indices.filter { row in
            number(of: documents[row].path.collection) == stretch.collection
                && stretch.bounds.allSatisfy { Self.holds(documents[row].id, $0.sign, $0.id) }
        }
        .sorted { Self.precedes(documents[$0].id, documents[$1].id) }
        return stretch.isBackward ? found.reversed() : found
    }

    private static func precedes(_ one: String, _ other: String) -> Bool {
        one.utf8.lexicographicallyPrecedes(other.utf8)
    }

    private static func holds(_ id: String, _ sign: String, _ bound: String) -> Bool {
        switch sign {
        case ">=": !precedes(id, bound)
        case ">": precedes(bound, id)
        case "<=": !precedes(bound, id)
        default: precedes(id, bound)
        }
    }

    func eachDocument(
        in stretch: IdentifierStretch,
        after offset: Int,
        expecting count: Int?,
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        try hand(Array(rows(in: stretch).dropFirst(offset)), take)
    }

    func count(of stretch: IdentifierStretch, upTo most: Int) -> Int {
        min(most, rows(in: stretch).count)
    }

    func eachImage(
        of collections: [Int64]?,
        after time: Int64,
        _ take: (borrowing StoredRow) throws -> Bool
    ) -> Bool { true }
}
