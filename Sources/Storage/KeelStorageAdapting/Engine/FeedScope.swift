internal import KeelDocuments

/// The entries of the change log, and the documents, that a page of changes reads.
///
/// If the scope names few collections and documents, the store itself skips the entries of others.
final class FeedScope {
    private enum Wanted {
        case nothing
        case everything
        case documents
    }

    struct Part {
        let collection: Int64
        let paths: [DocumentPath]?

        /// Calls `take` with the row of each document after an id until it returns false; returns whether it never did.
        func each(
            after id: String,
            expecting count: Int,
            in store: any LogSnapshot,
            _ take: (borrowing StoredRow) throws -> Bool
        ) throws -> Bool {
            guard let paths else {
                let stretch = IdentifierStretch(of: collection, after: id)
                return try store.eachDocument(in: stretch, after: 0, expecting: count, take)
            }
            let following = paths.filter { id.utf8.lexicographicallyPrecedes($0.id.utf8) }
            return try store.eachDocument(at: following, asOf: nil) { _, row in try take(row) }
        }
    }

    private static let most = 16

    let filter: ScopeFilter
    private let store: any LogSnapshot
    private var wanted: [Int64: Wanted] = [:]

    init(_ scope: ChangeScope, in store: any LogSnapshot) {
        filter = ScopeFilter(scope)
        self.store = store
    }

    var isEverything: Bool { filter.scope.isEverything }

    func hasDocument(_ row: borrowing StoredRow) throws -> Bool {
        guard !isEverything else { return true }
        return try hasDocument(String(decoding: row.id, as: UTF8.self), in: row.collection)
    }

    private func hasDocument(_ id: String, in collection: Int64) throws -> Bool {
        switch try wanted(of: collection) {
        case .nothing: return false
        case .everything: return true
        case .documents:
            let path = DocumentPath(trusted: try store.path(of: collection), id: id)
            return filter.scope.documents.contains(path)
        }
    }

    private func wanted(of collection: Int64) throws -> Wanted {
        if let known = wanted[collection] { return known }
        let path = try store.path(of: collection)
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

    /// Returns the first changes after a sequence that may be in scope, and whether they are the last ones.
    func changes(
        after sequence: Int64,
        most count: Int
    ) throws -> (changes: [LoggedChange], isCaughtUp: Bool) {
        let numbers = try namedNumbers()
        if let numbers, numbers.isEmpty { return ([], true) }
        var changes: [LoggedChange] = []
        let isCaughtUp = try store.eachChange(
            after: sequence,
            of: numbers,
            with: numbers == nil ? nil : namedIDs,
            expecting: count + 1
        ) { change in
            guard try isEverything || hasDocument(change.id, in: change.collection) else {
                return true
            }
            guard changes.count < count else { return false }
            changes.append(change)
            return true
        }
        return (changes, isCaughtUp)
    }

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
        return try paths.compactMap { try store.number(of: $0) }
    }

    private var namedIDs: [String]? {
        let scope = filter.scope
        guard scope.collections.isEmpty, scope.selections.isEmpty else { return nil }
        return scope.documents.map(\.id)
    }

    // MARK: Copies

    /// Returns the wanted documents of some collections, in the order of the collections' numbers.
    ///
    /// - Returns: The documents, and the lowest number of the following collections; nil if there are none.
    /// - Throws: Errors of the store.
    func parts(from first: Int64) throws -> (parts: [Part], next: Int64?) {
        let scope = filter.scope
        var paths: [Int64: [DocumentPath]] = [:]
        for path in scope.documents {
            guard let number = try store.number(of: path.collection) else { continue }
            paths[number, default: []].append(path)
        }
        var whole: Set<Int64> = []
        for path in scope.collections {
            if let number = try store.number(of: path) { whole.insert(number) }
        }
        let queries =
            scope.groups.map { DocumentQuery(group: $0) } + scope.selections.map(\.query)
        var next: Int64?
        for query in queries {
            let found = try store.collections(
                of: PreparedQuery(query),
                from: first,
                most: Self.most
            )
            whole.formUnion(found.numbers)
            if let following = found.next { next = min(next ?? following, following) }
        }
        // A whole collection includes its single documents.
        let parts = whole.map { Part(collection: $0, paths: nil) }
        let single = paths.filter { !whole.contains($0.key) }.map { collection, paths in
            let sorted = paths.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
            return Part(collection: collection, paths: sorted)
        }
        let wanted = (parts + single).filter { part in
            part.collection >= first && next.map { part.collection < $0 } ?? true
        }
        return (wanted.sorted { $0.collection < $1.collection }, next)
    }
}
