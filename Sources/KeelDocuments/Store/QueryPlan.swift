/// How an adapter answered a query.
public struct QueryPlan: Sendable, Hashable {
    /// The way to the documents.
    public enum Access: Sendable, Hashable {
        /// The declared index of this name, whose entries are already in the result's order.
        case index(String)
        /// The documents that the query names, or a stretch of documents in the order of their ids.
        case identifiers
        /// The text index of this name, then a sort.
        case search(String)
        /// Every document of the collection.
        case scan
    }

    /// The way taken.
    public var access: Access
    /// How many documents or index entries were looked at.
    public var examined: Int
    /// For a scan, the index that would serve the query if it were declared.
    public var suggestion: IndexDefinition?

    /// Creates a plan.
    public init(access: Access, examined: Int = 0, suggestion: IndexDefinition? = nil) {
        self.access = access
        self.examined = examined
        self.suggestion = suggestion
    }
}
