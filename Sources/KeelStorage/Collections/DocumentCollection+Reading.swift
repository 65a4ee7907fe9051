extension DocumentCollection {
    /// Returns the value with an id.
    ///
    /// - Throws: ``StorageError/Code/documentNotFound`` if there is none.
    @concurrent
    public func get(_ id: String) async throws(StorageError) -> Element {
        try decode(try await client.getDocument(path.document(id)))
    }

    /// Returns the value with an id, or nil if there is none.
    @concurrent
    public func find(_ id: String) async throws(StorageError) -> Element? {
        guard let document = try await client.findDocument(path.document(id)) else { return nil }
        return try decode(document)
    }

    /// Returns the values with these ids, in their order, nil for a missing one.
    @concurrent
    public func find(_ ids: [String]) async throws(StorageError) -> [Element?] {
        let documents = try await client.findDocuments(ids.map(path.document))
        var elements: [Element?] = []
        for document in documents {
            elements.append(
                try document.map { document throws(StorageError) in
                    try decode(document)
                }
            )
        }
        return elements
    }

    /// Returns all values, in the order of their ids.
    @concurrent
    public func findAll() async throws(StorageError) -> [Element] { try await find(all) }

    /// Returns the values that a query finds.
    ///
    /// - Throws: ``StorageError/Code/decodingFailed`` if one of the documents does not have the
    ///   element's form; the message names it.
    @concurrent
    public func query(
        _ refine: @Sendable (DocumentQuery) throws -> DocumentQuery
    ) async throws(StorageError) -> [Element] {
        try await find(try refined(refine))
    }

    /// Returns the first value that a query finds.
    @concurrent
    public func first(
        _ refine: @Sendable (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) async throws(StorageError) -> Element? {
        try await find(try refined(refine).limit(to: 1)).first
    }

    /// Returns how many documents a query finds.
    @concurrent
    public func count(
        _ refine: @Sendable (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) async throws(StorageError) -> Int {
        try await client.count(try refined(refine))
    }

    private func find(_ query: DocumentQuery) async throws(StorageError) -> [Element] {
        let documents = try await client.queryDocuments(query)
        var elements: [Element] = []
        elements.reserveCapacity(documents.count)
        for document in documents { elements.append(try decode(document)) }
        return elements
    }

    func refined(
        _ refine: (DocumentQuery) throws -> DocumentQuery
    ) throws(StorageError) -> DocumentQuery {
        do {
            return try refine(all)
        } catch let error as StorageError {
            throw error
        } catch {
            throw StorageError(.invalidArgument, "the query could not be made", cause: error)
        }
    }

    func decode(_ document: Document) throws(StorageError) -> Element {
        try decoder.decode(Element.self, from: document)
    }
}
