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
/// The next page begins after the last document of this one, whatever has been written since: no document is repeated
/// or left out. A document whose place in the order changes between two pages is found at its new place. To read
/// pages of one moment, use ``StorageClient/asOf(_:)``.
public struct DocumentPage<Item: Sendable>: Sendable {
    /// The values, in the query's order.
    public let items: [Item]
    /// The documents that cannot be read or decoded.
    ///
    /// The place of a document that cannot be read is unknown, so several pages can name it.
    public let failures: [UnreadableDocument]
    /// The number of first ``failures`` that the store could not read, and that it does not count as documents of the
    /// result.
    let unreadableCount: Int
    /// The position after the page's last document; nil for an empty first page.
    ///
    /// Store the cursor to continue later or in another process. By then, documents can follow even the last page.
    public let cursor: DocumentCursor?
    /// Whether documents followed the page when it was read.
    public let hasMore: Bool

    let reader: PageReader<Item>

    /// Reads the next page; returns nil if there is none.
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
    ///   - size: The number of documents per page. A page ends earlier at 8 MiB.
    ///   - cursor: The ``DocumentPage/cursor`` of the previous page; nil for the first page.
    ///   - refine: Makes the query, which may have an order but no limit.
    /// - Returns: The page.
    /// - Throws: `StorageError/Code/invalidArgument` for a query with a limit, a cursor of a query with another
    ///   order, or a size that is not positive.
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
    ///   - query: The query, which may have an order but no limit.
    ///   - size: The number of documents per page. A page ends earlier at 8 MiB.
    ///   - cursor: The ``DocumentPage/cursor`` of the previous page; nil for the first page.
    /// - Returns: The page.
    /// - Throws: `StorageError/Code/invalidArgument` for a query with a limit, a cursor of a query with another
    ///   order, or a size that is not positive.
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
