public import KeelDocuments

extension TypedCollection {
    /// Returns the value with an id.
    ///
    /// - Throws: `StorageError/Code/documentNotFound` if there is none.
    @concurrent
    public func get(_ id: String) async throws(StorageError) -> Item {
        try decode(try await client.getDocument(path.document(id)))
    }

    /// Returns the value with an id, or nil if there is none.
    @concurrent
    public func find(_ id: String) async throws(StorageError) -> Item? {
        guard let document = try await client.findDocument(path.document(id)) else { return nil }
        return try decode(document)
    }

    /// Returns the values with these ids, in the order of the ids; nil for a missing one.
    @concurrent
    public func find(_ ids: [String]) async throws(StorageError) -> [Item?] {
        let documents = try await client.findDocuments(ids.map(path.document))
        var items: [Item?] = []
        for document in documents {
            items.append(
                try document.map { document throws(StorageError) in
                    try decode(document)
                }
            )
        }
        return items
    }
}
