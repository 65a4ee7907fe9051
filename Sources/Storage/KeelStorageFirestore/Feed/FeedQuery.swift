internal import KeelCore
internal import KeelStorageAdapting

struct FeedQuery: Sendable {
    /// The maximum number of interests per request, and of bytes of their encoded form.
    private static let mostInterests = 100
    private static let maximumBytes = 4_000

    private(set) var text = ""

    /// Creates the query of a scope, which is widened if it exceeds the limits.
    ///
    /// First, the conditions of its queries are dropped, then documents replaced by their collections, then everything
    /// is requested. ``ScopeFilter`` removes the surplus changes.
    init(scope: ChangeScope, clients: Set<String> = [], database: String) {
        add("database", database)
        let encoding = FirestoreEncoding(database: database, isExtended: true)
        for wider in [scope, scope.unconditional, scope.withoutDocuments] {
            guard let interests = Self.interests(of: wider, encoding) else { continue }
            text += interests
            break
        }
        for client in clients.sorted() { add("client", client) }
    }

    /// Returns the parameters of a scope; nil if it covers everything, is empty, or exceeds the limits.
    private static func interests(of scope: ChangeScope, _ encoding: FirestoreEncoding) -> String? {
        guard !scope.isEverything, !scope.isEmpty else { return nil }
        let count = scope.documents.count + scope.collections.count + scope.groups.count
        guard count + scope.selections.count <= mostInterests else { return nil }
        var text = ""
        for path in scope.documents.sorted() {
            text += "&document=\(PercentEncoding.encode(path.string))"
        }
        for path in scope.collections.sorted() {
            text += "&collection=\(PercentEncoding.encode(path.string))"
        }
        for name in scope.groups { text += "&group=\(PercentEncoding.encode(name))" }
        var queries: [String] = []
        for selection in scope.selections {
            guard let query = try? encoding.query(selection.query) else { return nil }
            let parent = encoding.parent(of: selection.scope)
            let json = FirestoreJSON.members([
                "parent": parent == encoding.root ? nil : .string(parent), "structuredQuery": query,
            ])
            queries.append(
                "&query=\(PercentEncoding.encode(String(decoding: json.bytes, as: UTF8.self)))"
            )
        }
        for query in queries.sorted() { text += query }
        return text.utf8.count <= maximumBytes ? text : nil
    }

    mutating func add(_ name: String, _ value: String) {
        if !text.isEmpty { text += "&" }
        text += "\(name)=\(PercentEncoding.encode(value))"
    }
}
