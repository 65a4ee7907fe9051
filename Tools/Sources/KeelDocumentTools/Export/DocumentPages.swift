package import KeelStorage

/// The documents of a query in pages, in the order of their paths.
///
/// Each page is read by itself: what changes meanwhile behind the last document read is seen.
package struct DocumentPages {
    private let client: StorageClient
    private var query: DocumentQuery?
    private let size: Int
    /// The fields that are wanted; nil is all of them.
    private let projection: [FieldPath]?

    /// Creates the pages of everything in a scope.
    package init(
        _ client: StorageClient,
        _ scope: DocumentScope,
        after path: DocumentPath? = nil,
        size: Int = 500
    ) {
        self.client = client
        self.size = size
        projection = nil
        var query = scope.query.order(by: .documentID)
        if let path { query = query.start(after: .reference(path)) }
        self.query = query
    }

    /// Creates the pages of a query, at most as many documents as its limit says.
    package init(_ client: StorageClient, of query: DocumentQuery, size: Int = 500) {
        self.client = client
        self.size = size
        // A page begins after the last document’s values of the ordered fields, so that they have to
        // be read, selected or not.
        projection = query.projection
        var query = query
        query.projection = nil
        self.query = query
    }

    /// The next page, nil after the last one.
    ///
    /// - Throws: `StorageError`.
    package mutating func next() async throws(StorageError) -> [Document]? {
        guard let query else { return nil }
        var request = query
        var left: Int?
        if case .last = query.limit {
            self.query = nil
            let documents = try await client.queryDocuments(query)
            return documents.isEmpty ? nil : try projected(documents)
        }
        if case .first(let most) = query.limit { left = most }
        let wanted = min(size, left ?? size)
        request.limit = .first(wanted)
        let documents = try await client.queryDocuments(request)
        self.query = nil
        if let last = documents.last, documents.count == wanted, left != wanted {
            var following = query.start(after: last)
            following.offset = 0
            following.limit = left.map { .first($0 - wanted) }
            self.query = following
        }
        return documents.isEmpty ? nil : try projected(documents)
    }

    private func projected(_ documents: [Document]) throws(StorageError) -> [Document] {
        guard let projection else { return documents }
        var result: [Document] = []
        for document in documents {
            let fields = try document.fields()
            var selected = DocumentFields()
            for path in projection where path != .documentID {
                if let value = fields[path] { selected[path] = value }
            }
            result.append(
                Document(
                    path: document.path,
                    body: DocumentBody(selected),
                    revision: document.revision,
                    createTime: document.createTime,
                    updateTime: document.updateTime
                )
            )
        }
        return result
    }
}
