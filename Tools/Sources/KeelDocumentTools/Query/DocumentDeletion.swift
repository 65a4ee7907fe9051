package import KeelStorage

/// Deletes collections and what is below documents, page by page.
///
/// It can be stopped at any moment and called again. What is written meanwhile may stay.
package struct DocumentDeletion: Sendable {
    private let client: StorageClient

    package init(in adapter: any StorageAdapter) { client = StorageClient(adapter) }

    /// Deletes the documents of a collection.
    ///
    /// - Parameters:
    ///   - collection: The collection.
    ///   - isRecursive: Whether the collections below its documents go too.
    ///   - onProgress: Is told how many documents are gone, after each page.
    /// - Returns: How many documents were deleted.
    /// - Throws: `StorageError`.
    @discardableResult
    package func delete(
        _ collection: CollectionPath,
        isRecursive: Bool,
        onProgress: (Int) -> Void = { _ in }
    ) async throws(StorageError) -> Int {
        var count = 0
        var query = DocumentQuery(collection).order(by: .documentID).limit(to: 500)
        query.projection = []
        while true {
            let page = try await client.queryDocuments(query)
            guard !page.isEmpty else { return count }
            if isRecursive {
                for document in page { count += try await deleteBelow(document.path) }
            }
            try await client.commit(page.map { DocumentWrite.delete($0.path) })
            count += page.count
            onProgress(count)
        }
    }

    /// Deletes the collections below a document, and theirs.
    ///
    /// - Returns: How many documents were deleted.
    /// - Throws: `StorageError`; the code is `unsupported` where collections cannot be listed.
    @discardableResult
    package func deleteBelow(_ path: DocumentPath) async throws(StorageError) -> Int {
        var count = 0
        for name in try await client.collections(under: path) {
            count += try await delete(path.collection(name), isRecursive: true)
        }
        return count
    }
}
