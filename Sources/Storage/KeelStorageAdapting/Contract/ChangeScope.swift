public import KeelDocuments

/// The documents whose changes a reader wants: all of them, or a set of interests.
///
/// A change is in scope if at least one of the scope's documents, collections, collection groups and queries includes
/// its document.
///
/// ```swift
/// var scope = ChangeScope.documents(["users/ada"])
/// scope.formUnion(.query(DocumentQuery("notes").where(.equal("owner", "ada"))))
/// ```
///
/// A query's order, limit and bounds do not count. A reader receives the changes in the query's collections: the
/// document if it matches the condition, otherwise its removal or ``ChangePage/Change/leftScope(_:)``, whether or not
/// the document matched before. If the document does not match, an adapter may also send the document itself. It may
/// send nothing only if the document has not matched in any state that a reader can have seen, including states that no
/// page shows.
public struct ChangeScope: Sendable, Hashable {
    /// The documents in a query's scope that match a condition.
    public struct Selection: Sendable, Hashable {
        /// The collections that contain the documents.
        public var scope: DocumentQuery.Scope
        /// The condition on the documents; nil for all documents.
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

    /// Whether the scope includes every document.
    public private(set) var isEverything = false
    /// The single documents in the scope.
    public private(set) var documents: Set<DocumentPath> = []
    /// The collections whose direct documents are in the scope.
    public private(set) var collections: Set<CollectionPath> = []
    /// The names of ``groups``, as paths: a set of strings would merge canonically equivalent names.
    private var groupNames: Set<CollectionPath> = []
    /// The collections and groups of which only matching documents are in the scope, and whole parts of the store.
    public private(set) var selections: Set<Selection> = []

    /// Creates an empty scope.
    public init() {}

    /// The scope of every document.
    public static let everything: ChangeScope = {
        var scope = ChangeScope()
        scope.isEverything = true
        return scope
    }()

    /// Returns a scope of single documents.
    public static func documents(_ paths: Set<DocumentPath>) -> Self {
        var scope = ChangeScope()
        scope.documents = paths
        return scope
    }

    /// Returns a scope of the documents directly in the given collections.
    public static func collections(_ paths: Set<CollectionPath>) -> Self {
        var scope = ChangeScope()
        scope.collections = paths
        return scope
    }

    /// Returns a scope of the documents of all collections with one of the given names.
    public static func groups(_ names: some Sequence<String>) -> Self {
        var scope = ChangeScope()
        scope.groupNames = Set(names.map { CollectionPath(trusted: $0) })
        return scope
    }

    /// Returns a scope of the documents that match a query, ignoring its order, limit and bounds.
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

    /// The names of collections, at any depth, whose documents are in the scope, sorted by their bytes.
    public var groups: [String] { groupNames.sorted().map(\.string) }

    /// Whether the scope includes no documents.
    public var isEmpty: Bool { self == ChangeScope() }

    /// Adds the interests of another scope.
    public mutating func formUnion(_ other: ChangeScope) {
        guard !isEverything, !other.isEverything else {
            self = .everything
            return
        }
        documents.formUnion(other.documents)
        collections.formUnion(other.collections)
        groupNames.formUnion(other.groupNames)
        selections.formUnion(other.selections)
    }

    /// Returns a scope with the interests of both scopes.
    public func union(_ other: ChangeScope) -> ChangeScope {
        var scope = self
        scope.formUnion(other)
        return scope
    }

    /// Returns whether the scope includes all documents of a collection, without a condition.
    package func isWhole(_ collection: CollectionPath) -> Bool {
        if isEverything || collections.contains(collection) { return true }
        return !groupNames.isEmpty && hasGroup(collection.name)
    }

    private func hasGroup(_ name: String) -> Bool {
        groupNames.contains(CollectionPath(trusted: name))
    }

    /// Returns whether this scope delivers every change that another scope delivers.
    package func includes(_ other: ChangeScope) -> Bool {
        guard !isEverything else { return true }
        guard !other.isEverything else { return false }
        return other.documents.allSatisfy { documents.contains($0) || isWhole($0.collection) }
            && other.collections.allSatisfy(isWhole) && groupNames.isSuperset(of: other.groupNames)
            && other.selections.allSatisfy(includes)
    }

    private func includes(_ selection: Selection) -> Bool {
        if selections.contains(selection) { return true }
        return switch selection.scope {
        case .collection(let path): isWhole(path)
        case .group(let name, _): hasGroup(name)
        case .everything: false
        }
    }

    /// The scope with the conditions of its queries removed.
    package var unconditional: ChangeScope {
        guard !selections.isEmpty else { return self }
        var scope = self
        scope.selections = []
        for selection in selections {
            scope.formUnion(.query(Selection(selection.scope).query))
        }
        return scope
    }

    /// The scope with whole collections in place of single documents, and whole groups in place of parts of groups.
    package var withoutDocuments: ChangeScope {
        var scope = unconditional
        for case .everything in scope.selections.map(\.scope) { return .everything }
        scope.documents = []
        scope.collections.formUnion(documents.map(\.collection))
        for case .group(let name, _) in scope.selections.map(\.scope) {
            scope.groupNames.insert(CollectionPath(trusted: name))
        }
        scope.selections = []
        return scope
    }
}

/// A scope prepared for matching changes.
public struct ScopeFilter: Sendable {
    /// The scope.
    public let scope: ChangeScope
    private typealias Selection = ChangeScope.Selection
    private let queries: [PreparedQuery]

    /// Creates a filter for a scope.
    ///
    /// The condition of an invalid query is ignored, so that no change is missed.
    public init(_ scope: ChangeScope) {
        self.scope = scope
        queries = scope.selections.map { selection in
            let checked = try? QueryValidation.checked(selection.query)
            return PreparedQuery(checked ?? Selection(selection.scope).query)
        }
    }

    /// Returns whether the scope includes documents of a collection, either all of them or those that match a query.
    public func covers(_ collection: CollectionPath) -> Bool {
        scope.isWhole(collection) || queries.contains { $0.covers(collection) }
    }

    /// Returns whether the filter reports changes of a document to readers of the scope.
    public func contains(_ path: DocumentPath) -> Bool {
        covers(path.collection) || scope.documents.contains(path)
    }

    /// Returns whether a document in its current state is in scope.
    public func matches(_ document: Document) -> Bool {
        if case .current? = told(.current(document)) { true } else { false }
    }

    /// Returns the change to deliver to a reader of the scope; nil if the change is out of scope.
    ///
    /// A document that only queries cover, and whose state matches none of them, is reported as having left the scope.
    /// An unreadable document in their collections is always reported.
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
