import KeelStorage
import KeelStorageFirestore

extension FirestoreExchange {
    /// `runQuery`: what a query finds below a document, or below the root.
    func runQuery(under parent: DocumentPath?) async throws(StorageError) -> [UInt8] {
        let explanation = try QueryExplanation(body, clock: configuration.clock)
        let json = try body.object("structuredQuery")
        if let query = try decoding.treeQuery(json, under: parent) {
            guard explanation == nil else {
                throw StorageError(.unsupported, "a query over all collections is not explained")
            }
            return try await runTreeQuery(query)
        }
        let query = try checked(try decoding.query(json, under: parent))
        let snapshot = try snapshot()
        if let explanation, !explanation.isAnalyzed {
            return try await self.explanation(explanation, of: query, in: snapshot)
        }
        let (documents, result) = try await found(query, asOf: snapshot.time, needsTime: true)
        let token = try record(reads(of: query, documents), in: snapshot)
        let time = readTime(of: result, documents)
        var reply = ReplyList(first: token, last: addition(result))
        for document in documents {
            try reply.append("document", at: time) { bytes throws(StorageError) in
                try encoding.append(document, to: &bytes)
            }
        }
        return reply.finish(
            at: time,
            metrics: explanation?.metrics(result.plan, of: query, count: documents.count)
        )
    }

    /// `runAggregationQuery`: counts, sums and averages over what a query finds.
    func runAggregationQuery(under parent: DocumentPath?) async throws(StorageError) -> [UInt8] {
        let explanation = try QueryExplanation(body, clock: configuration.clock)
        let json = try body.object("structuredAggregationQuery")
        var (unchecked, wanted) = try decoding.aggregation(json, under: parent)
        let aggregations = wanted.map(\.1)
        if !decoding.isExtended { unchecked.orderLimited(by: aggregations) }
        let query = try checked(unchecked)
        try Self.check(aggregations)
        let snapshot = try snapshot()
        if let explanation, !explanation.isAnalyzed {
            return try await self.explanation(explanation, of: query, in: snapshot)
        }
        let (values, result, reads) = try await values(of: aggregations, over: query, in: snapshot)
        let token = try record(reads, in: snapshot)
        var fields = DocumentFields()
        for ((alias, _), value) in zip(wanted, values) { fields[alias] = value }
        let time = readTime(of: result)
        var reply = ReplyList(first: token, last: addition(result))
        let part = FirestoreJSON.object([.init("aggregateFields", encoding.fields(fields))])
        reply.append("result", at: time) { part.append(to: &$0) }
        return reply.finish(
            at: time,
            metrics: explanation?.metrics(result.plan, of: query, count: 1)
        )
    }

    /// Checks a query as `StorageClient` does, and that it is not of what Keel keeps for itself.
    func checked(_ query: DocumentQuery) throws(StorageError) -> DocumentQuery {
        try reserved.check(query.scope)
        if query.search != nil { try require(.textSearch, for: "a search for words") }
        return try QueryValidation.checked(query)
    }

    func reads(of query: DocumentQuery, _ documents: [Document]) -> TransactionReads {
        let found = documents.map {
            TransactionReads.DocumentRead(path: $0.path, revision: $0.revision)
        }
        return TransactionReads(queries: [.init(query: query, found: found)])
    }

    /// Computes the values in the store where that can be, and here where it cannot.
    ///
    /// A transaction needs to know which documents the values are of, to notice that one changed.
    private func values(
        of aggregations: [Aggregation],
        over query: DocumentQuery,
        in snapshot: Snapshot
    ) async throws(StorageError) -> ([DocumentValue], ReadResult, TransactionReads) {
        if !snapshot.notesReads, adapter.capabilities.contains(.aggregation) {
            let result = try await read(
                .aggregate(query, aggregations),
                asOf: snapshot.time,
                needsTime: true
            )
            guard case .values(let values) = result.payload, values.count == aggregations.count
            else {
                throw StorageError(
                    .unknown,
                    "the store answered an aggregation with something else"
                )
            }
            return (values, result, TransactionReads())
        }
        var whole = query
        whole.projection = nil
        let (documents, result) = try await found(whole, asOf: snapshot.time, needsTime: true)
        let values = StorageEvaluator.values(of: aggregations, over: documents)
        return (values, result, reads(of: whole, documents))
    }

    private static func check(_ aggregations: [Aggregation]) throws(StorageError) {
        guard (1...5).contains(aggregations.count) else {
            throw FirestoreDecoding.flaw("there are 1 to 5 aggregations, not \(aggregations.count)")
        }
        for case .count(let most?) in aggregations where most < 1 {
            throw FirestoreDecoding.flaw("“upTo” must be positive")
        }
    }

    /// The reply of a query that is only planned.
    private func explanation(
        _ explanation: QueryExplanation,
        of query: DocumentQuery,
        in snapshot: Snapshot
    ) async throws(StorageError) -> [UInt8] {
        // A plan for no documents is that for all of them.
        let result = try await read(
            .query(query.with { $0.limit = .first(0) }),
            asOf: snapshot.time,
            needsTime: true
        )
        let token = try record(TransactionReads(), in: snapshot)
        var reply = ReplyList(first: token, last: addition(result))
        return reply.finish(
            at: readTime(of: result),
            metrics: explanation.metrics(result.plan, of: query, count: nil)
        )
    }
}

extension DocumentQuery {
    /// Orders a query by the fields that are summed up, where it has a limit and no order.
    ///
    /// Google's service takes sums from an index of these fields, so that a limit keeps the documents
    /// with the smallest values, and none without a value.
    fileprivate mutating func orderLimited(by aggregations: [Aggregation]) {
        guard limit != nil, orders.isEmpty else { return }
        let implied = withCompleteOrders.orders.map(\.field)
        for aggregation in aggregations {
            switch aggregation {
            case .sum(let field), .average(let field):
                guard !implied.contains(field), !orders.contains(where: { $0.field == field })
                else { continue }
                orders.append(Order(field, .ascending))
            case .count: continue
            }
        }
        // An inequality's field stays the first, as a query has to have it.
        if !orders.isEmpty {
            orders.insert(
                contentsOf: implied.filter { !$0.isDocumentID }.map { Order($0, .ascending) },
                at: 0
            )
        }
    }
}
