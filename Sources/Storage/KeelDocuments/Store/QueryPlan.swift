/// How an adapter answered a query.
public struct QueryPlan: Sendable, Hashable {
    /// The access path to the documents.
    public enum Access: Sendable, Hashable {
        /// Declared indexes, read in the order of the result; the name is that of the first one.
        case index(String)
        /// Documents that the query names, or ranges of documents in the order of their paths.
        case identifiers
        /// The text index with this name, followed by a sort.
        case search(String)
        /// Every document of the query's collections.
        case scan
    }

    /// The access path.
    public var access: Access
    /// The number of examined documents or index entries.
    public var examined: Int
    /// After a scan, the index that would serve the query; nil if none can.
    public var suggestion: IndexDefinition?

    /// Creates a plan.
    public init(access: Access, examined: Int = 0, suggestion: IndexDefinition? = nil) {
        self.access = access
        self.examined = examined
        self.suggestion = suggestion
    }
}
