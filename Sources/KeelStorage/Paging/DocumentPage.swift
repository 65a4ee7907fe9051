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
/// The next page begins behind the last document of this one, whatever has been written meanwhile: no
/// document comes twice and none is left out. One whose place in the order changes between two pages is
/// found, as with every cursor, where it is then; pages of one moment are those of
/// ``StorageClient/asOf(_:)``.
public struct DocumentPage<Item: Sendable>: Sendable {
    /// The values, in the query's order.
    public let items: [Item]
    /// The documents that are not among the items, because they cannot be read or decoded.
    ///
    /// The place of one that cannot be read is not known: several pages may name it.
    public let failures: [UnreadableDocument]
    /// The place behind the page's last document; nil for an empty page that is the first.
    ///
    /// Keep it to go on later, in another process or on another day. There may be something behind it
    /// then although the page was the last one.
    public let cursor: DocumentCursor?
    /// Whether there was something behind the page when it was read.
    public let hasMore: Bool

    let reader: PageReader<Item>

    /// Reads the next page; nil if there is none.
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
    ///   - size: How many documents a page has. One of more than 8 MiB ends earlier.
    ///   - cursor: The ``DocumentPage/cursor`` of the page before; nil for the first page.
    ///   - refine: Makes the query. Its order decides; a limit has no place in it.
    /// - Returns: The page.
    /// - Throws: `StorageError/Code/invalidArgument` for a query with a limit, for a cursor of a query
    ///   with another order and for a size that is not positive.
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
    ///   - query: The query. Its order decides; a limit has no place in it.
    ///   - size: How many documents a page has. One of more than 8 MiB ends earlier.
    ///   - cursor: The ``DocumentPage/cursor`` of the page before; nil for the first page.
    /// - Returns: The page.
    /// - Throws: `StorageError/Code/invalidArgument` for a query with a limit, for a cursor of a query
    ///   with another order and for a size that is not positive.
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
