package import KeelStorage

/// Reads the documents of a query page by page.
///
/// Each page has the state at the time of its own read.
package struct DocumentPages {
    package struct Page {
        package var documents: [Document]
        /// The documents that cannot be read; several pages may report the same one.
        package var unreadable: [UnreadableDocument] = []
    }

    private let client: StorageClient
    /// Nil after the last page.
    private var query: DocumentQuery?
    private var cursor: DocumentCursor?
    private let size: Int
    /// The fields to return; nil for all.
    private let projection: [FieldPath]?

    /// Creates the pages of a scope, sorted by path.
    package init(
        _ client: StorageClient,
        _ scope: DocumentScope,
        after path: DocumentPath? = nil,
        size: Int = 500
    ) {
        var query = scope.query.order(by: .documentID)
        if let path { query = query.start(after: .reference(path)) }
        self.init(client, of: query, size: size)
    }

    /// Creates the pages of a query in its order; its limit is the maximum number of documents.
    ///
    /// A query for the last documents has a single page of any size.
    package init(_ client: StorageClient, of query: DocumentQuery, size: Int = 500) {
        self.client = client
        self.size = size
        // A page begins after the last document's values of the order fields, which must therefore be read even if they
        // are not selected.
        projection = query.projection
        var query = query
        query.projection = nil
        self.query = query
    }

    /// Returns the next page; nil after the last one.
    package mutating func next() async throws(StorageError) -> Page? {
        guard var query else { return nil }
        self.query = nil
        var left: Int?
        switch query.limit {
        case .last:
            let documents = try await client.queryDocuments(query)
            return documents.isEmpty ? nil : projected(Page(documents: documents))
        case .first(let most): left = most
        case nil: break
        }
        query.limit = nil
        let wanted = min(size, left ?? size)
        let page = try await client.page(query, size: wanted, after: cursor)
        left = left.map { $0 - page.items.count }
        if page.hasMore, left != 0 {
            cursor = page.cursor
            query.limit = left.map { .first($0) }
            self.query = query
        }
        guard !page.items.isEmpty || !page.failures.isEmpty else { return nil }
        return projected(Page(documents: page.items, unreadable: page.failures))
    }

    /// Returns the page with only the selected fields; documents that cannot be decoded count as unreadable.
    private func projected(_ page: Page) -> Page {
        guard let projection else { return page }
        var result = Page(documents: [], unreadable: page.unreadable)
        for document in page.documents {
            do throws(StorageError) {
                result.documents.append(try document.selecting(projection))
            } catch {
                result.unreadable.append(UnreadableDocument(document.path, error))
            }
        }
        return result
    }
}
