public import KeelDocuments
internal import KeelStorageAdapting

extension StorageClient {
    /// Returns the documents that match a query, in the query's order.
    ///
    /// To read a long result in bounded memory, use ``documents(matching:)`` or ``page(_:size:after:)``.
    ///
    /// - Throws: `StorageError/Code/indexRequired` if the schema declares no fields for a text search or, in strict
    ///   mode or on a server that demands it, no index that serves the query; `StorageError/Code/unsupported` for a
    ///   text search on an adapter without `StorageCapabilities/textSearch`.
    @concurrent
    public func queryDocuments(_ query: DocumentQuery) async throws(StorageError) -> [Document] {
        try await run(query).documents
    }

    /// Returns the documents that match a query, together with the query plan.
    ///
    /// - Throws: The errors of ``queryDocuments(_:)``.
    @concurrent
    public func run(_ query: DocumentQuery) async throws(StorageError) -> QueryResult {
        let checked = try check(query, for: "queryDocuments")
        var request = ReadRequest(.query(checked))
        request.isStrict = configuration.isStrict
        let result = try await read(request, for: "queryDocuments", on: "\(query.scope)")
        return QueryResult(documents: try result.found, plan: result.plan)
    }

    /// Returns the number of documents that match a query; see ``aggregate(_:_:)``.
    @concurrent
    public func count(_ query: DocumentQuery) async throws(StorageError) -> Int {
        let values = try await aggregate(query, [.count()])
        return Int(values.first?.integerValue ?? 0)
    }

    /// Returns aggregate values over the documents that match a query, one per aggregation.
    ///
    /// Without `StorageCapabilities/aggregation`, the client reads the documents and computes the values.
    ///
    /// - Returns: The values, in the order of the aggregations.
    /// - Throws: `StorageError/Code/invalidArgument` unless there are 1 to 5 aggregations, and the errors of
    ///   ``queryDocuments(_:)``.
    @concurrent
    public func aggregate(
        _ query: DocumentQuery,
        _ aggregations: [Aggregation]
    ) async throws(StorageError) -> [DocumentValue] {
        let checked = try check(query, aggregations, for: "aggregate")
        guard capabilities.contains(.aggregation) else {
            var whole = checked
            whole.projection = nil
            var aggregator = Aggregator(aggregations)
            for document in try await queryDocuments(whole) { aggregator.add(document) }
            return aggregator.values
        }
        var request = ReadRequest(.aggregate(checked, aggregations))
        request.isStrict = configuration.isStrict
        let result = try await read(request, for: "aggregate", on: "\(query.scope)")
        guard case .values(let values) = result.payload else { return [] }
        return values
    }

    /// Returns the sorted names of the top-level collections, or of a document's collections.
    ///
    /// - Throws: `StorageError/Code/unsupported` if the adapter does not offer `StorageCapabilities/collectionListing`.
    @concurrent
    public func collections(
        under parent: DocumentPath? = nil
    ) async throws(StorageError) -> [String] {
        try require(.collectionListing, for: "collections")
        if let parent { try check([parent], for: "collections") }
        let request = ReadRequest(.collections(under: parent))
        let result = try await read(request, for: "collections", on: parent?.string)
        guard case .names(let names) = result.payload else { return [] }
        // Reserved names belong to Keel.
        return names.filter { !StoredName.isReserved($0) }
    }

    package func check(
        _ query: DocumentQuery,
        for operation: String
    ) throws(StorageError) -> DocumentQuery {
        var query = query
        if let search = query.search {
            try require(.textSearch, for: "matching(_:)")
            query.search = configuration.schema.completed(search, in: query.scope)
        }
        do throws(StorageError) {
            return try QueryValidation.checked(query)
        } catch {
            throw error.during(operation, on: "\(query.scope)")
        }
    }

    func check(
        _ query: DocumentQuery,
        _ aggregations: [Aggregation],
        for operation: String
    ) throws(StorageError) -> DocumentQuery {
        do throws(StorageError) {
            try check(aggregations)
        } catch {
            throw error.during(operation, on: "\(query.scope)")
        }
        return try check(query, for: operation).ordered(for: aggregations)
    }

    private func check(_ aggregations: [Aggregation]) throws(StorageError) {
        guard (1...5).contains(aggregations.count) else {
            throw StorageError(.invalidArgument, "aggregate takes 1 to 5 aggregations")
        }
        for aggregation in aggregations {
            if let flaw = aggregation.field?.flaw { throw StorageError(.invalidArgument, flaw) }
            if case .count(let most?) = aggregation, most < 1 {
                throw StorageError(.invalidArgument, "a count’s upper limit must be positive")
            }
        }
    }
}

/// The result of a query.
public struct QueryResult: Sendable {
    /// The documents, in the query's order.
    public let documents: [Document]
    /// The plan of the query, if the adapter plans queries.
    public let plan: QueryPlan?
}
