/// The indexes that an app's queries need.
///
/// ```swift
/// let schema = StorageSchema(indexes: [
///     IndexDefinition("restaurants", [.ascending("borough"), .descending("rating")]),
///     IndexDefinition("restaurants", [.contains("tags"), .ascending("name")]),
/// ])
/// ```
///
/// An index of a large store is built while the store is in use. A query without a matching index examines every
/// document of its collections and reports the definition that would serve it: see
/// `StorageClient/Configuration/onFullScan`.
public struct StorageSchema: Sendable, Hashable {
    /// The indexes for filters and orders.
    public var indexes: [IndexDefinition]
    /// The fields that searches look in.
    public var searches: [SearchDefinition]

    /// Creates a schema.
    public init(indexes: [IndexDefinition] = [], searches: [SearchDefinition] = []) {
        self.indexes = indexes
        self.searches = searches
    }
}

/// An index over the fields of documents.
///
/// An index has 1 to 100 components: at most one ``Component/contains(_:)``, no field ordered twice, and not the
/// document's id. With any other definition in its schema, every call of a client throws
/// ``StorageError/Code/invalidArgument``.
public struct IndexDefinition: Sendable, Hashable {
    /// A component of an index.
    public enum Component: Sendable, Hashable {
        /// The field's value, smallest first.
        case ascending(FieldPath)
        /// The field's value, largest first.
        case descending(FieldPath)
        /// One entry for each distinct element of an array field.
        case contains(FieldPath)

        /// The indexed field.
        public var field: FieldPath {
            switch self {
            case .ascending(let field), .descending(let field), .contains(let field): field
            }
        }
    }

    /// The collections that an index covers.
    public enum Scope: String, Sendable, Hashable {
        /// Queries on one collection with the name.
        case collection
        /// Collection-group queries.
        case group
    }

    /// The name of the collections.
    public var collection: String
    /// The queries that the index serves.
    public var scope: Scope
    /// The indexed fields: those compared for equality, then those ordered by.
    public var components: [Component]
    /// Whether the index serves only equality comparisons.
    ///
    /// With encryption at rest, it holds keyed hashes, which reveal only which documents have equal values.
    public var isEqualityOnly: Bool

    /// Creates a definition.
    public init(
        _ collection: String,
        scope: Scope = .collection,
        _ components: [Component],
        isEqualityOnly: Bool = false
    ) {
        self.collection = collection
        self.scope = scope
        self.components = components
        self.isEqualityOnly = isEqualityOnly
    }

    /// Compares names by bytes, unlike `String`.
    public static func == (left: Self, right: Self) -> Bool {
        StoredName.same(left.collection, right.collection) && left.scope == right.scope
            && left.components == right.components && left.isEqualityOnly == right.isEqualityOnly
    }

    /// The index's name, the same for equal definitions.
    public var name: String {
        let fields = components.map { component in
            switch component {
            case .ascending(let field): "\(field)+"
            case .descending(let field): "\(field)-"
            case .contains(let field): "\(field)[]"
            }
        }
        let kind = isEqualityOnly ? "=" : ""
        return
            "\(collection)\(scope == .group ? "**" : "")(\(fields.joined(separator: ",")))\(kind)"
    }
}

extension IndexDefinition: CustomStringConvertible {
    /// The definition as the Swift code that declares it.
    public var description: String {
        let parts = components.map { component in
            switch component {
            case .ascending(let field): ".ascending(\"\(field)\")"
            case .descending(let field): ".descending(\"\(field)\")"
            case .contains(let field): ".contains(\"\(field)\")"
            }
        }
        let scope = scope == .group ? "scope: .group, " : ""
        let kind = isEqualityOnly ? ", isEqualityOnly: true" : ""
        return
            "IndexDefinition(\"\(collection)\", \(scope)[\(parts.joined(separator: ", "))]\(kind))"
    }
}

/// The fields of collections that searches look in.
public struct SearchDefinition: Sendable, Hashable {
    /// The name of the collections.
    public var collection: String
    /// The searchable fields, at least one; strings within arrays and maps are found, too.
    public var fields: [FieldPath]

    /// Creates a definition.
    public init(_ collection: String, fields: [FieldPath]) {
        self.collection = collection
        self.fields = fields
    }

    /// Compares names by bytes, unlike `String`.
    public static func == (left: Self, right: Self) -> Bool {
        StoredName.same(left.collection, right.collection) && left.fields == right.fields
    }

    /// The definition's name, the same for equal definitions.
    public var name: String {
        "\(collection)~(\(fields.map(\.description).joined(separator: ",")))"
    }
}

extension StorageSchema {
    package func check() throws(StorageError) {
        for index in indexes {
            guard let flaw = index.flaw else { continue }
            throw StorageError(.invalidArgument, "\(index): \(flaw)")
        }
        for search in searches {
            let fieldFlaw =
                search.fields.isEmpty
                ? "it has no fields" : search.fields.lazy.compactMap(\.flaw).first
            let flaw = StoredName.flaw(inSegment: search.collection).map { "its collection \($0)" }
            guard let flaw = flaw ?? fieldFlaw else { continue }
            throw StorageError(.invalidArgument, "the search of “\(search.collection)”: \(flaw)")
        }
    }
}

extension IndexDefinition {
    private static let mostComponents = 100

    fileprivate var flaw: String? {
        if let flaw = StoredName.flaw(inSegment: collection) { return "its collection \(flaw)" }
        guard (1...Self.mostComponents).contains(components.count) else {
            return
                "it has \(components.count) components; an index can have 1 to \(Self.mostComponents)"
        }
        var arrays = 0
        var ordered: Set<FieldPath> = []
        for component in components {
            if component.field.isDocumentID { return "the document’s id is part of every index" }
            if let flaw = component.field.flaw { return flaw }
            if case .contains = component {
                arrays += 1
            } else if !ordered.insert(component.field).inserted {
                return "it orders by “\(component.field)” twice"
            }
        }
        // Two would create an entry for each pair of elements.
        return arrays > 1 ? "it has \(arrays) array components; an index can have one" : nil
    }
}
