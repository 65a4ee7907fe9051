/// A description of how an adapter answered a query.
public struct QueryPlan: Sendable, Hashable {
    /// The access path to the documents.
    public enum Access: Sendable, Hashable {
        /// The declared index with this name, whose entries are already in the order of the result.
        case index(String)
        /// The documents that the query names, or a range of documents in the order of their ids.
        case identifiers
        /// The text index with this name, followed by a sort.
        case search(String)
        /// Every document of the collection.
        case scan
    }

    /// The access path that was used.
    public var access: Access
    /// The number of documents or index entries that were examined.
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
