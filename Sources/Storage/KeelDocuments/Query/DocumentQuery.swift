/// A query for documents: its conditions, order and limits.
///
/// ```swift
/// let query = DocumentQuery("restaurants")
///     .where(.equal("borough", "Bronx"))
///     .order(by: "name")
///     .limit(to: 20)
/// ```
///
/// The result is ordered by the named orders, then by the fields of inequality conditions, then by path. The latter two
/// follow the direction of the last named order. Documents that lack an ordered field are excluded.
public struct DocumentQuery: Sendable, Hashable {
    /// The documents that a query searches.
    public enum Scope: Sendable, Hashable {
        /// The documents directly in one collection.
        case collection(CollectionPath)
        /// The documents of every collection with this name, at any depth, or only those below a document.
        case group(String, under: DocumentPath? = nil)
        /// Every document at any depth, or only those below a document, without those in collections whose path has a
        /// name of the form `__…__`.
        case everything(under: DocumentPath? = nil)

        /// The document below which the query searches, if any.
        package var ancestor: DocumentPath? {
            switch self {
            case .collection: nil
            case .group(_, let ancestor), .everything(let ancestor): ancestor
            }
        }

        /// Compares names by bytes, unlike `String`.
        public static func == (left: Self, right: Self) -> Bool {
            switch (left, right) {
            case (.collection(let one), .collection(let other)): one == other
            case (.group(let one, let ancestor), .group(let other, let otherAncestor)):
                StoredName.same(one, other) && ancestor == otherAncestor
            case (.everything(let one), .everything(let other)): one == other
            default: false
            }
        }
    }

    /// The direction of an order.
    public enum Direction: Sendable, Hashable {
        /// Smallest first.
        case ascending
        /// Largest first.
        case descending

        package var reversed: Direction { self == .ascending ? .descending : .ascending }
    }

    /// A field to order by.
    public struct Order: Sendable, Hashable {
        /// The field.
        public var field: FieldPath
        /// The direction.
        public var direction: Direction

        /// Creates an order.
        public init(_ field: FieldPath, _ direction: Direction = .ascending) {
            self.field = field
            self.direction = direction
        }
    }

    /// The maximum number of documents, from one end of the result.
    public enum Limit: Sendable, Hashable {
        /// The first documents of the result.
        case first(Int)
        /// The last documents of the result, in the query's order.
        case last(Int)

        package var count: Int {
            switch self {
            case .first(let count), .last(let count): count
            }
        }
    }

    /// A point in the order of results.
    public struct Bound: Sendable, Hashable {
        /// The values of the first orders.
        ///
        /// Without values, an inclusive bound has no effect, and an exclusive one excludes every document.
        public var values: [DocumentValue]
        /// Whether the result includes documents with exactly these values.
        public var isInclusive: Bool

        /// Creates a bound.
        public init(_ values: [DocumentValue], isInclusive: Bool) {
            self.values = values
            self.isInclusive = isInclusive
        }
    }

    /// The documents that the query searches.
    public var scope: Scope
    /// The condition on documents.
    public var filter: DocumentFilter?
    /// The orders that the caller named.
    public var orders: [Order] = []
    /// The maximum number of documents; nil for no limit.
    public var limit: Limit?
    /// The number of documents to skip before the limit applies, at the limit's end of the result.
    public var offset = 0
    /// The start of the result.
    public var start: Bound?
    /// The end of the result.
    public var end: Bound?
    /// The fields to read: nil for all fields, empty for only the paths.
    public var projection: [FieldPath]?
    /// The words that documents must contain.
    public var search: TextSearch?

    /// Creates a query for all documents of a collection.
    public init(_ collection: CollectionPath) { scope = .collection(collection) }

    /// Creates a query for all documents of the collections with this name, or only those below a document.
    public init(group name: String, under ancestor: DocumentPath? = nil) {
        scope = .group(name, under: ancestor)
    }

    private init(_ scope: Scope) { self.scope = scope }

    /// Returns a query for the documents of all collections at any depth, or only those below a document.
    ///
    /// Its conditions and orders may use only the document's id. In its order, a document precedes the documents below
    /// it.
    ///
    /// ```swift
    /// let userData = DocumentQuery.everything(under: "users/ada").limit(to: 100)
    /// ```
    public static func everything(under ancestor: DocumentPath? = nil) -> DocumentQuery {
        DocumentQuery(.everything(under: ancestor))
    }
}

extension DocumentQuery {
    /// Adds a condition; all conditions must hold.
    public func `where`(_ filter: DocumentFilter) -> DocumentQuery {
        var query = self
        switch (query.filter, filter) {
        case (nil, _): query.filter = filter
        case (.and(let existing)?, .and(let added)): query.filter = .and(existing + added)
        case (.and(let existing)?, _): query.filter = .and(existing + [filter])
        case (let existing?, .and(let added)): query.filter = .and([existing] + added)
        case (let existing?, _): query.filter = .and([existing, filter])
        }
        return query
    }

    /// Adds an order, which breaks ties in the preceding orders.
    public func order(by field: FieldPath, _ direction: Direction = .ascending) -> DocumentQuery {
        with { $0.orders.append(Order(field, direction)) }
    }

    /// Limits the result to the first documents.
    public func limit(to count: Int) -> DocumentQuery { with { $0.limit = .first(count) } }

    /// Limits the result to the last documents; the query needs at least one named order.
    public func limit(toLast count: Int) -> DocumentQuery { with { $0.limit = .last(count) } }

    /// Skips the first documents of the result, or with ``limit(toLast:)`` the last ones, before the limit applies.
    public func offset(_ count: Int) -> DocumentQuery { with { $0.offset = count } }

    /// Starts at the documents with these values in the first orders.
    public func start(at values: DocumentValue...) -> DocumentQuery {
        with { $0.start = Bound(values, isInclusive: true) }
    }

    /// Starts after the documents with these values in the first orders.
    public func start(after values: DocumentValue...) -> DocumentQuery {
        with { $0.start = Bound(values, isInclusive: false) }
    }

    /// Ends at the documents with these values in the first orders.
    public func end(at values: DocumentValue...) -> DocumentQuery {
        with { $0.end = Bound(values, isInclusive: true) }
    }

    /// Ends before the documents with these values in the first orders.
    public func end(before values: DocumentValue...) -> DocumentQuery {
        with { $0.end = Bound(values, isInclusive: false) }
    }

    /// Reads only the given fields; without any, only the paths.
    public func select(_ fields: FieldPath...) -> DocumentQuery { with { $0.projection = fields } }

    /// Finds only documents whose given fields, or by default ``TextSearch/fields``, contain all of the words.
    ///
    /// A word is a run of letters and digits, without case and accents. A word that ends in `*` matches every word that
    /// begins with it. If no ``SearchDefinition`` has all of the fields, a call throws
    /// ``StorageError/Code/indexRequired``. If the text has no word or more than 100, it throws
    /// ``StorageError/Code/invalidArgument``.
    public func matching(_ text: String, in fields: FieldPath...) -> DocumentQuery {
        with { $0.search = TextSearch(text, in: fields.isEmpty ? nil : fields) }
    }

    package func with(_ change: (inout DocumentQuery) -> Void) -> DocumentQuery {
        var query = self
        change(&query)
        return query
    }
}

extension DocumentQuery {
    /// Starts at a document; its missing order fields count as null.
    public func start(at document: Document) -> DocumentQuery {
        starting(at: document, isInclusive: true)
    }

    /// Starts after a document.
    public func start(after document: Document) -> DocumentQuery {
        starting(at: document, isInclusive: false)
    }

    /// Ends at a document.
    public func end(at document: Document) -> DocumentQuery {
        ending(at: document, isInclusive: true)
    }

    /// Ends before a document.
    public func end(before document: Document) -> DocumentQuery {
        ending(at: document, isInclusive: false)
    }

    private func starting(at document: Document, isInclusive: Bool) -> DocumentQuery {
        let explicit = withCompleteOrders
        return explicit.with { $0.start = $0.bound(of: document, isInclusive: isInclusive) }
    }

    private func ending(at document: Document, isInclusive: Bool) -> DocumentQuery {
        let explicit = withCompleteOrders
        return explicit.with { $0.end = $0.bound(of: document, isInclusive: isInclusive) }
    }

    package func bound(of document: Document, isInclusive: Bool) -> Bound {
        let values = orders.map { order in
            order.field.isDocumentID ? .reference(document.path) : document[order.field] ?? .null
        }
        return Bound(values, isInclusive: isInclusive)
    }

    package var withCompleteOrders: DocumentQuery {
        with { $0.orders = completeOrders }
    }

    package var completeOrders: [Order] {
        var orders = orders
        let direction = orders.last?.direction ?? .ascending
        let inequalities = (filter?.comparisons ?? []).filter(\.comparison.isInequality)
        if !inequalities.isEmpty {
            let unordered = Set(inequalities.map(\.field)).subtracting(orders.map(\.field))
            orders += unordered.filter { !$0.isDocumentID }.sorted().map { Order($0, direction) }
        }
        if !orders.contains(where: \.field.isDocumentID) {
            orders.append(Order(.documentID, direction))
        }
        return orders
    }
}
