package import KeelStorage

/// Deletes collections, or the collections below a document, page by page.
///
/// The deletion can be interrupted and repeated. Documents written meanwhile may remain, and collections below missing
/// documents do. Unreadable documents are deleted.
package struct DocumentDeletion: Sendable {
    private let client: StorageClient

    package init(in adapter: any StorageAdapter) { client = StorageClient(adapter) }

    /// Deletes the documents of a collection, and with `isRecursive` the collections below them.
    ///
    /// - Returns: The number of deleted documents, which `onProgress` receives after each page.
    /// - Throws: `StorageError`; with `isRecursive` its code is `unsupported` if the store cannot list collections.
    @discardableResult
    package func delete(
        _ collection: CollectionPath,
        isRecursive: Bool,
        onProgress: (Int) -> Void = { _ in }
    ) async throws(StorageError) -> Int {
        var count = 0
        var query = DocumentQuery(collection).order(by: .documentID)
        query.projection = []
        while true {
            let page = try await client.page(query, size: 500)
            let paths = page.items.map(\.path) + page.failures.map(\.path)
            guard !paths.isEmpty else { return count }
            if isRecursive { for path in paths { count += try await deleteBelow(path) } }
            for first in stride(from: 0, to: paths.count, by: 500) {
                let part = paths[first...].prefix(500)
                try await client.commit(part.map { DocumentWrite.delete($0) })
            }
            count += paths.count
            onProgress(count)
        }
    }

    /// Deletes the collections below a document, recursively, and returns the number of deleted documents.
    ///
    /// - Throws: `StorageError`; the code is `unsupported` if the store cannot list collections.
    @discardableResult
    package func deleteBelow(_ path: DocumentPath) async throws(StorageError) -> Int {
        var count = 0
        for name in try await client.collections(under: path) {
            count += try await delete(path.collection(name), isRecursive: true)
        }
        return count
    }
}
