#if SQLite
internal import GRDB
internal import KeelStorageAdapting

/// The rows of the change log, and the documents, that a page of changes reads.
///
/// A change out of scope costs a row of the log and no document. If the scope names few collections and documents,
/// SQLite itself skips the rows of others. An index for them would cost every commit more than it saves the few
/// readers that catch up.
final class FeedScope {
    /// The documents of a collection that are wanted.
    private enum Wanted {
        case nothing
        case everything
        case documents
    }

    struct Part {
        let collection: Int64
        /// The ids of the wanted documents, sorted; nil for all.
        let ids: [String]?

        /// Calls `read` with the row of each document after an id, until it returns false.
        func each(
            after id: String,
            in reader: StoreReader,
            _ read: (RawStatement) throws -> Bool
        ) throws {
            guard let ids else {
                let statement = try RawStatement(
                    reader.database,
                    """
                    SELECT \(RawStatement.columns) FROM documents d
                    WHERE d.cid = ? AND d.id > ? ORDER BY d.id
                    """
                )
                try statement.bind(1, collection)
                try statement.bind(2, id)
                try statement.each(read)
                return
            }
            let statement = try RawStatement(
                reader.database,
                "SELECT \(RawStatement.columns) FROM documents d WHERE d.cid = ? AND d.id = ?"
            )
            for wanted in ids where id.utf8.lexicographicallyPrecedes(wanted.utf8) {
                try statement.bind(1, collection)
                try statement.bind(2, wanted)
                if try statement.first(read) == false { return }
            }
        }
    }

    /// The largest number of collections, and of documents, that SQLite selects by name.
    private static let most = 16

    let filter: ScopeFilter
    private let reader: StoreReader
    private var wanted: [Int64: Wanted] = [:]

    init(_ scope: ChangeScope, _ reader: StoreReader) {
        filter = ScopeFilter(scope)
        self.reader = reader
    }

    var isEverything: Bool { filter.scope.isEverything }

    /// Returns whether a document may be in the scope.
    func hasDocument(_ id: String, in collection: Int64) throws -> Bool {
        guard !isEverything else { return true }
        switch try wanted(of: collection) {
        case .nothing: return false
        case .everything: return true
        case .documents:
            let path = DocumentPath(trusted: try reader.path(of: collection), id: id)
            return filter.scope.documents.contains(path)
        }
    }

    private func wanted(of collection: Int64) throws -> Wanted {
        if let known = wanted[collection] { return known }
        let path = try reader.path(of: collection)
        let found: Wanted =
            filter.covers(path)
            ? .everything : filter.scope.documents.isEmpty ? .nothing : .documents
        wanted[collection] = found
        return found
    }

    /// Returns a document's change for a copy, which contains only documents in scope.
    func copied(_ change: ChangePage.Change) -> ChangePage.Change? {
        guard let told = filter.told(change) else { return nil }
        if case .leftScope = told { return nil }
        return told
    }

    // MARK: The log

    /// Returns the bound statement that selects the log after a sequence, with all columns; nil if no change can be
    /// in scope.
    func log(after sequence: Int64) throws -> RawStatement? {
        var condition = ""
        let numbers = try namedNumbers()
        if let numbers {
            guard !numbers.isEmpty else { return nil }
            condition = " AND cid IN (\(Self.marks))"
        }
        let ids = numbers == nil ? nil : namedIDs
        if ids != nil { condition += " AND id IN (\(Self.marks))" }
        let statement = try RawStatement(
            reader.database,
            "SELECT * FROM changes WHERE seq > ?\(condition) ORDER BY seq"
        )
        try statement.bind(1, sequence)
        var place: Int32 = 2
        // The lists are filled up with their last element, so that one statement serves all lengths.
        if let numbers {
            for position in 0..<Self.most {
                try statement.bind(place, numbers[min(position, numbers.count - 1)])
                place += 1
            }
        }
        if let ids {
            for position in 0..<Self.most {
                try statement.bind(place, ids[min(position, ids.count - 1)])
                place += 1
            }
        }
        return statement
    }

    private static let marks = Array(repeating: "?", count: most).joined(separator: ", ")

    /// Returns the collections of a scope that names each of a few; nil for any other scope.
    private func namedNumbers() throws -> [Int64]? {
        let scope = filter.scope
        guard !isEverything, scope.groups.isEmpty, scope.documents.count <= Self.most else {
            return nil
        }
        var paths = scope.collections.union(scope.documents.map(\.collection))
        for selection in scope.selections {
            guard case .collection(let path) = selection.scope else { return nil }
            paths.insert(path)
        }
        guard paths.count <= Self.most else { return nil }
        return try paths.compactMap { try reader.number(of: $0) }
    }

    /// The ids of a scope that consists of a few documents; nil for any other scope.
    private var namedIDs: [String]? {
        let scope = filter.scope
        guard scope.collections.isEmpty, scope.selections.isEmpty else { return nil }
        return scope.documents.map(\.id)
    }

    // MARK: Copies

    func parts() throws -> [Part] {
        let scope = filter.scope
        var ids: [Int64: [String]] = [:]
        for path in scope.documents {
            guard let number = try reader.number(of: path.collection) else { continue }
            ids[number, default: []].append(path.id)
        }
        var whole: Set<Int64> = []
        for path in scope.collections {
            if let number = try reader.number(of: path) { whole.insert(number) }
        }
        let queries =
            scope.groups.map { DocumentQuery(group: $0) } + scope.selections.map(\.query)
        for query in queries {
            whole.formUnion(try reader.collections(of: PreparedQuery(query)).map(\.number))
        }
        // A whole collection includes its single documents.
        let parts = whole.map { Part(collection: $0, ids: nil) }
        let single = ids.filter { !whole.contains($0.key) }.map { collection, ids in
            let sorted = ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            return Part(collection: collection, ids: sorted)
        }
        return (parts + single).sorted { $0.collection < $1.collection }
    }
}
#endif
