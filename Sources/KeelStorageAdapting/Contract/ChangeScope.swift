public import KeelDocuments

/// The documents whose changes a reader wants: all of them, or a set of interests.
///
/// A scope names documents, collections, collection groups and queries side by side, so that the
/// interests of many readers make one scope. A change is in scope if one of them concerns it.
///
/// ```swift
/// var scope = ChangeScope.documents(["users/ada"])
/// scope.formUnion(.query(DocumentQuery("notes").where(.equal("owner", "ada"))))
/// ```
///
/// A query takes part with its collections and its condition; order, limit and bounds do not count.
/// A reader is told of every document of the query's collections that changes: the document if it
/// meets the condition, and ``ChangePage/Change/leftScope(_:)`` if it does not, whether or not it
/// did before. An adapter may tell the document in that case too, never less.
public struct ChangeScope: Sendable, Hashable {
    /// The documents of a query's scope that meet a condition.
    public struct Selection: Sendable, Hashable {
        /// Where the documents are.
        public var scope: DocumentQuery.Scope
        /// What they have to meet; nil for all of them.
        public var filter: DocumentFilter?

        /// Creates a selection.
        public init(_ scope: DocumentQuery.Scope, matching filter: DocumentFilter? = nil) {
            self.scope = scope
            self.filter = filter
        }

        package var query: DocumentQuery {
            switch scope {
            case .collection(let path): DocumentQuery(path).with { $0.filter = filter }
            case .group(let name, let ancestor):
                DocumentQuery(group: name, under: ancestor).with { $0.filter = filter }
            case .everything(let ancestor):
                DocumentQuery.everything(under: ancestor).with { $0.filter = filter }
            }
        }
    }

    /// Whether every document is wanted.
    public private(set) var isEverything = false
    /// Single documents.
    public private(set) var documents: Set<DocumentPath> = []
    /// Collections, of which the documents directly in them are wanted.
    public private(set) var collections: Set<CollectionPath> = []
    /// Names of collections, at any depth.
    public private(set) var groups: Set<String> = []
    /// Collections and groups of which only some documents are wanted, and whole parts of the store.
    public private(set) var selections: Set<Selection> = []

    /// Creates a scope of nothing.
    public init() {}

    /// The changes of every document.
    public static let everything: ChangeScope = {
        var scope = ChangeScope()
        scope.isEverything = true
        return scope
    }()

    /// The changes of single documents.
    public static func documents(_ paths: Set<DocumentPath>) -> Self {
        var scope = ChangeScope()
        scope.documents = paths
        return scope
    }

    /// The changes of the documents directly in some collections.
    public static func collections(_ paths: Set<CollectionPath>) -> Self {
        var scope = ChangeScope()
        scope.collections = paths
        return scope
    }

    /// The changes of the documents of all collections that have one of these names.
    public static func groups(_ names: Set<String>) -> Self {
        var scope = ChangeScope()
        scope.groups = names
        return scope
    }

    /// The changes of the documents that a query finds, but for its order, limit and bounds.
    public static func query(_ query: DocumentQuery) -> Self {
        switch (query.scope, query.filter) {
        case (.collection(let path), nil): return .collections([path])
        case (.group(let name, under: nil), nil): return .groups([name])
        default:
            var scope = ChangeScope()
            scope.selections = [Selection(query.scope, matching: query.filter)]
            return scope
        }
    }

    /// Whether the scope has no interest at all.
    public var isEmpty: Bool { self == ChangeScope() }

    /// Adds the interests of another scope.
    public mutating func formUnion(_ other: ChangeScope) {
        guard !isEverything, !other.isEverything else {
            self = .everything
            return
        }
        documents.formUnion(other.documents)
        collections.formUnion(other.collections)
        groups.formUnion(other.groups)
        selections.formUnion(other.selections)
    }

    /// The interests of both scopes.
    public func union(_ other: ChangeScope) -> ChangeScope {
        var scope = self
        scope.formUnion(other)
        return scope
    }

    /// Whether all documents of a collection are wanted, whatever they hold.
    package func isWhole(_ collection: CollectionPath) -> Bool {
        if isEverything || collections.contains(collection) { return true }
        return !groups.isEmpty && groups.contains(collection.name)
    }

    /// Whether a reader of this scope is told all that one of the other scope is.
    package func includes(_ other: ChangeScope) -> Bool {
        guard !isEverything else { return true }
        guard !other.isEverything else { return false }
        return other.documents.allSatisfy { documents.contains($0) || isWhole($0.collection) }
            && other.collections.allSatisfy(isWhole) && groups.isSuperset(of: other.groups)
            && other.selections.allSatisfy(includes)
    }

    private func includes(_ selection: Selection) -> Bool {
        if selections.contains(selection) { return true }
        return switch selection.scope {
        case .collection(let path): isWhole(path)
        case .group(let name, _): groups.contains(name)
        case .everything: false
        }
    }

    /// The scope with all documents of the collections of its queries, whatever their conditions.
    package var unconditional: ChangeScope {
        guard !selections.isEmpty else { return self }
        var scope = self
        scope.selections = []
        for selection in selections {
            scope.formUnion(.query(Selection(selection.scope).query))
        }
        return scope
    }

    /// The scope with whole collections in place of single documents, and whole groups in place of
    /// their parts.
    package var withoutDocuments: ChangeScope {
        var scope = unconditional
        for case .everything in scope.selections.map(\.scope) { return .everything }
        scope.documents = []
        scope.collections.formUnion(documents.map(\.collection))
        for case .group(let name, _) in scope.selections.map(\.scope) { scope.groups.insert(name) }
        scope.selections = []
        return scope
    }
}

/// A scope made ready to be compared with changes.
///
/// Adapters use it, so that a scope means the same everywhere.
public struct ScopeFilter: Sendable {
    /// The scope.
    public let scope: ChangeScope
    private typealias Selection = ChangeScope.Selection
    private let queries: [PreparedQuery]

    /// Prepares a scope.
    ///
    /// A query that is not valid has no condition here, so that nothing is missed.
    public init(_ scope: ChangeScope) {
        self.scope = scope
        queries = scope.selections.map { selection in
            let checked = try? QueryValidation.checked(selection.query)
            return PreparedQuery(checked ?? Selection(selection.scope).query)
        }
    }

    /// Whether all documents of a collection concern the scope, of a query at least as such that may
    /// meet its condition.
    public func covers(_ collection: CollectionPath) -> Bool {
        scope.isWhole(collection) || queries.contains { $0.covers(collection) }
    }

    /// Whether a change of a document concerns the scope.
    public func contains(_ path: DocumentPath) -> Bool {
        covers(path.collection) || scope.documents.contains(path)
    }

    /// Whether a document, as it is, belongs to the scope.
    public func matches(_ document: Document) -> Bool {
        if case .current? = told(.current(document)) { true } else { false }
    }

    /// The change as a reader of the scope is told it; nil if it does not concern the scope.
    ///
    /// A document that only queries concern, and that meets the condition of none, is told as one
    /// that has left the scope. One that cannot be read may meet it.
    public func told(_ change: ChangePage.Change) -> ChangePage.Change? {
        let path = change.path
        if scope.isWhole(path.collection) || scope.documents.contains(path) { return change }
        var isCovered = false
        for query in queries where query.covers(path.collection) {
            guard case .current(let document) = change else { return change }
            if query.matches(document) { return change }
            isCovered = true
        }
        return isCovered ? .leftScope(path) : nil
    }
}
