public import KeelDocuments

/// A part of a query's results, in the query's order.
///
/// ```swift
/// var page = try await notes.page(size: 20) { $0.order(by: "updated", .descending) }
/// show(page.items)
/// while let next = try await page.next() {
///     show(next.items)
///     page = next
/// }
/// ```
///
/// The next page begins after the last document of this one. A document is repeated or left out only if a write in
/// between changes its own place in the order. To read pages of one moment, use ``StorageClient/asOf(_:)``.
public struct DocumentPage<Item: Sendable>: Sendable {
    /// The values, in the query's order.
    public let items: [Item]
    /// The documents that cannot be read or decoded; several pages can name the same one.
    public let failures: [UnreadableDocument]
    /// The number of leading ``failures`` that the store could not read.
    let unreadableCount: Int
    /// The position after the page's last document; nil for an empty first page.
    ///
    /// With it, another process can continue, even after the last page.
    public let cursor: DocumentCursor?
    /// Whether documents may have followed the page when it was read; always true if some did.
    public let hasMore: Bool

    let reader: PageReader<Item>

    /// Reads the next page, which may be empty; returns nil unless ``hasMore``.
    @concurrent
    public func next() async throws(StorageError) -> DocumentPage? {
        guard hasMore, let cursor else { return nil }
        return try await reader.page(after: cursor)
    }
}

extension TypedDocuments {
    /// Returns the first page of a query's results, or the one after a cursor.
    ///
    /// - Parameters:
    ///   - size: The number of documents per page. A page ends earlier at about 8 MiB.
    ///   - cursor: The ``DocumentPage/cursor`` of the previous page; nil for the first page.
    ///   - refine: Makes the query, which must not have a limit.
    /// - Returns: The page.
    /// - Throws: `StorageError/Code/invalidArgument` for a query with a limit, the cursor of another order, or a size
    ///   below 1.
    @concurrent
    public func page(
        size: Int = 50,
        after cursor: DocumentCursor? = nil,
        _ refine: @Sendable (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) async throws(StorageError) -> DocumentPage<Item> {
        let query = try refined(refine)
        let reader = TypedReader(self)
        return try await PageReader(client, query, size: size, decode: reader.decode)
            .page(after: cursor)
    }
}

extension StorageClient {
    /// Returns the first page of a query's results, or the one after a cursor.
    ///
    /// ```swift
    /// let query = DocumentQuery("notes").order(by: "updated", .descending)
    /// let first = try await storage.page(query, size: 20)
    /// let second = try await storage.page(query, size: 20, after: first.cursor)
    /// ```
    ///
    /// - Parameters:
    ///   - query: The query, which must not have a limit.
    ///   - size: The number of documents per page. A page ends earlier at about 8 MiB.
    ///   - cursor: The ``DocumentPage/cursor`` of the previous page; nil for the first page.
    /// - Returns: The page.
    /// - Throws: `StorageError/Code/invalidArgument` for a query with a limit, the cursor of another order, or a size
    ///   below 1.
    @concurrent
    public func page(
        _ query: DocumentQuery,
        size: Int = 50,
        after cursor: DocumentCursor? = nil
    ) async throws(StorageError) -> DocumentPage<Document> {
        try await PageReader(self, query, size: size) { document throws(StorageError) in document }
            .page(after: cursor)
    }
}
