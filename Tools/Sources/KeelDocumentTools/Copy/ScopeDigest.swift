internal import Crypto
package import KeelStorage

/// How many documents a scope has, and a hash of all that they hold.
package struct ScopeDigest: Hashable, Sendable {
    /// How many documents there are.
    package let count: Int
    /// SHA-256 over paths and bodies in the order of the paths, in hexadecimal.
    package let hash: String

    /// Reads the documents of a scope.
    ///
    /// - Parameters:
    ///   - scope: The scope.
    ///   - client: The store.
    ///   - includesTimes: Whether times and revisions count too.
    ///   - excluded: The paths of documents that do not count; those that cannot be read never do.
    /// - Throws: `StorageError`.
    package init(
        of scope: DocumentScope,
        in client: StorageClient,
        includesTimes: Bool,
        without excluded: Set<String> = []
    ) async throws(StorageError) {
        var hash = SHA256()
        var count = 0
        var pages = DocumentPages(client, scope)
        while let page = try await pages.next() {
            for document in page.documents
            where !document.path.isKeelsOwn && !excluded.contains(document.path.string) {
                var record = Array(document.path.string.utf8) + [0]
                if includesTimes {
                    let facts = [
                        document.createTime.microseconds, document.updateTime.microseconds,
                        document.revision.number,
                    ]
                    record += Array("\(facts)".utf8)
                }
                record += Array("\(document.body.bytes.count):".utf8) + document.body.bytes
                hash.update(data: record)
                count += 1
            }
        }
        self.count = count
        self.hash = hash.finalize().hexadecimal()
    }
}

extension DocumentPath {
    /// Whether the document is one of those that Keel keeps for itself.
    var isKeelsOwn: Bool {
        string.split(separator: "/").contains { segment in
            segment.utf8.count >= 4 && segment.hasPrefix("__") && segment.hasSuffix("__")
        }
    }
}
