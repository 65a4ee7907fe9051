/// A question about documents: which, in what order, how many.
///
/// ```swift
/// let query = DocumentQuery("restaurants")
///     .where(.equal("borough", "Bronx"))
///     .order(by: "name")
///     .limit(to: 20)
/// ```
///
/// The order of results is total and the same on every adapter: the orders named, then the fields
/// of inequality conditions, then the document's path, the latter two in the direction of the last
/// order named. A document that lacks an ordered field is not part of the result.
public struct DocumentQuery: Sendable, Hashable {
    /// Where a query looks.
    public enum Scope: Sendable, Hashable {
        /// The documents directly in one collection.
        case collection(CollectionPath)
        /// The documents of every collection of this name, at any depth, below a document if given.
        case group(String, under: DocumentPath? = nil)
        /// Every document of the store at any depth, or below a document if given.
        ///
        /// Documents on whose path a name of the form `__…__` stands are left out: Keel keeps its own
        /// records under such names.
        case everything(under: DocumentPath? = nil)

        /// The document below which the query looks, where it is given.
        package var ancestor: DocumentPath? {
            switch self {
            case .collection: nil
            case .group(_, let ancestor), .everything(let ancestor): ancestor
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

    /// How many documents are wanted, and from which end.
    public enum Limit: Sendable, Hashable {
        /// So many from the beginning.
        case first(Int)
        /// So many from the end, in the query’s order.
        case last(Int)

        package var count: Int {
            switch self {
            case .first(let count), .last(let count): count
            }
        }
    }

    /// A point in the order of results.
    public struct Bound: Sendable, Hashable {
        /// Values of the first orders; fewer than there are orders is fine.
        ///
        /// Without any, the bound lies at everything: an inclusive one changes nothing, an exclusive
        /// one leaves nothing.
        public var values: [DocumentValue]
        /// Whether documents that have just these values belong to the result.
        public var isInclusive: Bool

        /// Creates a bound.
        public init(_ values: [DocumentValue], isInclusive: Bool) {
            self.values = values
            self.isInclusive = isInclusive
        }
    }

    /// Where the query looks.
    public var scope: Scope
    /// The condition on documents.
    public var filter: DocumentFilter?
    /// The orders named by the caller.
    public var orders: [Order] = []
    /// How many documents are wanted.
    public var limit: Limit?
    /// How many documents are skipped before the limit counts.
    public var offset = 0
    /// Where the result begins.
    public var start: Bound?
    /// Where the result ends.
    public var end: Bound?
    /// The fields that are wanted; nil is all of them, empty only the paths.
    public var projection: [FieldPath]?
    /// Words that documents must have.
    public var search: TextSearch?

    /// Creates a query for all documents of a collection.
    public init(_ collection: CollectionPath) { scope = .collection(collection) }

    /// Creates a query for all documents of the collections that have this name.
    public init(group name: String, under ancestor: DocumentPath? = nil) {
        scope = .group(name, under: ancestor)
    }

    private init(_ scope: Scope) { self.scope = scope }

    /// Creates a query for the documents of all collections, at any depth, below a document if given.
    ///
    /// Its conditions and orders may concern the document's id and nothing else. Documents come in the
    /// order of their paths: one, what is below it, the next one.
    ///
    /// ```swift
    /// let userData = DocumentQuery.everything(under: "users/ada").limit(to: 100)
    /// ```
    public static func everything(under ancestor: DocumentPath? = nil) -> DocumentQuery {
        DocumentQuery(.everything(under: ancestor))
    }
}

extension DocumentQuery {
    /// Adds a condition; several must all hold.
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

    /// Adds an order, which decides where the ones before it leave a tie.
    public func order(by field: FieldPath, _ direction: Direction = .ascending) -> DocumentQuery {
        with { $0.orders.append(Order(field, direction)) }
    }

    /// Keeps the first documents of the order.
    public func limit(to count: Int) -> DocumentQuery { with { $0.limit = .first(count) } }

    /// Keeps the last documents of the order, which needs at least one named order.
    public func limit(toLast count: Int) -> DocumentQuery { with { $0.limit = .last(count) } }

    /// Leaves out the first documents of the order.
    public func offset(_ count: Int) -> DocumentQuery { with { $0.offset = count } }

    /// Begins at the documents with these values of the first orders.
    public func start(at values: DocumentValue...) -> DocumentQuery {
        with { $0.start = Bound(values, isInclusive: true) }
    }

    /// Begins after the documents with these values of the first orders.
    public func start(after values: DocumentValue...) -> DocumentQuery {
        with { $0.start = Bound(values, isInclusive: false) }
    }

    /// Ends with the documents with these values of the first orders.
    public func end(at values: DocumentValue...) -> DocumentQuery {
        with { $0.end = Bound(values, isInclusive: true) }
    }

    /// Ends before the documents with these values of the first orders.
    public func end(before values: DocumentValue...) -> DocumentQuery {
        with { $0.end = Bound(values, isInclusive: false) }
    }

    /// Reads only these fields.
    public func select(_ fields: FieldPath...) -> DocumentQuery { with { $0.projection = fields } }

    /// Keeps documents whose searchable fields have all the words.
    ///
    /// A word is a run of letters and digits; case and accents do not count. A word that ends in
    /// `*` matches every word that begins with it. The fields must be declared in the schema.
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
    /// Begins at this document, which the query's order must be able to place.
    public func start(at document: Document) -> DocumentQuery {
        starting(at: document, isInclusive: true)
    }

    /// Begins after this document: the next page.
    public func start(after document: Document) -> DocumentQuery {
        starting(at: document, isInclusive: false)
    }

    /// Ends with this document.
    public func end(at document: Document) -> DocumentQuery {
        ending(at: document, isInclusive: true)
    }

    /// Ends before this document.
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

    /// The query with the orders written out that are otherwise implied.
    package var withCompleteOrders: DocumentQuery {
        with { $0.orders = completeOrders }
    }

    /// The orders named, then the fields of inequalities, then the path.
    package var completeOrders: [Order] {
        var orders = orders
        let direction = orders.last?.direction ?? .ascending
        let unordered = Set(
            (filter?.comparisons ?? []).filter(\.comparison.isInequality).map(\.field)
        ).subtracting(orders.map(\.field))
        orders += unordered.filter { !$0.isDocumentID }.sorted().map { Order($0, direction) }
        if !orders.contains(where: \.field.isDocumentID) {
            orders.append(Order(.documentID, direction))
        }
        return orders
    }
}
