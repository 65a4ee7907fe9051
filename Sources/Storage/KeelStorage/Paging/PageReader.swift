internal import KeelDocuments
internal import KeelStorageAdapting

struct PageReader<Item: Sendable>: Sendable {
    static var maximumBytes: Int { 8 << 20 }

    private let client: StorageClient
    /// Of all pages, which are for one user.
    private let attempts = StorageAttempts()
    /// The query with its implicit orders made explicit.
    private let query: DocumentQuery
    private let size: Int
    private let decode: @Sendable (Document) throws(StorageError) -> Item

    init(
        _ client: StorageClient,
        _ query: DocumentQuery,
        size: Int,
        decode: @escaping @Sendable (Document) throws(StorageError) -> Item
    ) throws(StorageError) {
        guard size > 0 else { throw Self.refusal("the page size must be positive") }
        guard query.limit == nil else {
            throw Self.refusal(
                "a paged query cannot have a limit; set the page size"
            )
        }
        self.client = client
        self.query = query.withCompleteOrders
        self.size = min(size, QueryValidation.mostDocuments)
        self.decode = decode
    }

    private static func refusal(_ message: String) -> StorageError {
        StorageError(.invalidArgument, message, operation: "page")
    }

    @concurrent
    func page(after cursor: DocumentCursor?) async throws(StorageError) -> DocumentPage<Item> {
        let page = try await documents(after: cursor)
        var items: [Item] = []
        items.reserveCapacity(page.documents.count)
        var failures = page.unreadable
        let selected = unselected.isEmpty ? nil : query.projection
        for document in page.documents {
            let told = selected.map { document.with(document.body.selecting($0)) } ?? document
            do throws(StorageError) {
                items.append(try decode(told))
            } catch {
                failures.append(UnreadableDocument(document.path, error))
            }
        }
        return DocumentPage(
            items: items,
            failures: failures,
            unreadableCount: page.unreadable.count,
            cursor: page.documents.last.map { DocumentCursor(behind: $0, in: query) } ?? cursor,
            hasMore: page.hasMore,
            reader: self
        )
    }

    /// The order fields that the query does not select, and that the cursor of the last document needs.
    private var unselected: [FieldPath] {
        guard let fields = query.projection else { return [] }
        return query.orders.map(\.field).filter { field in
            !field.isDocumentID && !fields.contains { $0.contains(field) }
        }
    }

    private func documents(
        after cursor: DocumentCursor?
    ) async throws(StorageError) -> (
        documents: [Document], unreadable: [UnreadableDocument], hasMore: Bool
    ) {
        var query = query
        if let cursor {
            do throws(StorageError) {
                query = try cursor.continuing(query)
            } catch {
                throw error.during("page")
            }
        }
        query.projection = query.projection.map { $0 + unselected }
        // One more document shows whether more follow.
        var wanted = size + 1
        var maximumBytes = Self.maximumBytes
        while true {
            query.limit = .first(wanted)
            var request = ReadRequest(.query(try client.check(query, for: "page")))
            request.isStrict = client.configuration.isStrict
            request.reportsUnreadable = true
            request.maximumBytes = maximumBytes
            let context = StorageContext.current.repeated(as: attempts)
            let result = try await context.perform { () async throws(StorageError) in
                try await client.read(request, for: "page", on: "\(query.scope)")
            }
            let documents = try result.found
            let mayHaveMore = try result.mayHaveMore(than: wanted)
            let hasMore = documents.count > size || mayHaveMore
            guard documents.isEmpty, hasMore else {
                return (Array(documents.prefix(size)), result.unreadable, hasMore)
            }
            // None of the documents can be read, so the start of the next page is unknown: read further.
            wanted *= 2
            maximumBytes *= 2
        }
    }
}
