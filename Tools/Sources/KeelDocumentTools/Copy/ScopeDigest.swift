internal import Crypto
package import KeelStorage

/// The number of documents in a scope, and a hash of their contents.
package struct ScopeDigest: Hashable, Sendable {
    package let count: Int
    /// The SHA-256 hash of the paths and bodies in hexadecimal.
    package let hash: String

    /// Reads the documents of a scope, without Keel's own, the unreadable and the excluded ones.
    ///
    /// With `includesTimes`, the hash includes times and revisions.
    ///
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
    /// Whether the document belongs to Keel's own data.
    var isKeelsOwn: Bool {
        string.split(separator: "/").contains { segment in
            segment.utf8.count >= 4 && segment.hasPrefix("__") && segment.hasSuffix("__")
        }
    }
}
