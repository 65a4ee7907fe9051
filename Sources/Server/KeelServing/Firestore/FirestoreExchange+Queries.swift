import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore

extension FirestoreExchange {
    /// `runQuery`: returns the results of a query below a document, or below the root.
    func runQuery(under parent: DocumentPath?) async throws(StorageError) -> ReplyBody {
        let explanation = try QueryExplanation(body, clock: configuration.clock)
        let json = try body.object("structuredQuery")
        if let query = try decoding.childrenQuery(json, under: parent) {
            guard explanation == nil else {
                throw StorageError(
                    .unsupported,
                    "a query over all collections of a document is not explained"
                )
            }
            return try await run(query)
        }
        let query = try checked(try decoding.query(json, under: parent))
        let snapshot = try await snapshot()
        if let explanation, !explanation.isAnalyzed {
            return .whole(try await self.explanation(explanation, of: query, in: snapshot))
        }
        return try await made(by: try QueryReply(to: query, of: self, snapshot, explanation))
    }

    /// `runAggregationQuery`: returns counts, sums and averages over the results of a query.
    func runAggregationQuery(under parent: DocumentPath?) async throws(StorageError) -> [UInt8] {
        let explanation = try QueryExplanation(body, clock: configuration.clock)
        let json = try body.object("structuredAggregationQuery")
        let (unchecked, wanted) = try decoding.aggregation(json, under: parent)
        let aggregations = wanted.map(\.1)
        let query = try checked(unchecked).ordered(for: aggregations)
        try Self.check(aggregations)
        let snapshot = try await snapshot()
        if let explanation, !explanation.isAnalyzed {
            return try await self.explanation(explanation, of: query, in: snapshot)
        }
        let (values, result, reads) = try await values(of: aggregations, over: query, in: snapshot)
        let token = try await record(reads, at: result.position, in: snapshot)
        var fields = DocumentFields()
        for ((alias, _), value) in zip(wanted, values) { fields[alias] = value }
        let time = readTime(of: result)
        var reply = ReplyList(first: token)
        let part = FirestoreJSON.object([.init("aggregateFields", encoding.fields(fields))])
        reply.append("result", at: time) { part.append(to: &$0) }
        return reply.finish(
            at: time,
            metrics: explanation?.metrics(result.plan, of: query, count: 1),
            addition: addition(result)
        )
    }

    /// Validates a query like `StorageClient`, and rejects queries of reserved collections.
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

    /// Computes aggregations in the store if possible, otherwise here.
    ///
    /// In a transaction they are computed here, because the commit needs the revisions of the documents.
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
            return (try result.checkedValues(aggregations.count), result, TransactionReads())
        }
        var whole = query
        whole.projection = nil
        var pages = QueryPages(of: whole, in: self, snapshot)
        var aggregator = Aggregator(aggregations)
        var reads = TransactionReads()
        var result: ReadResult?
        while let page = try await pages.next() {
            // The values of only a part of the documents would be wrong.
            if let failure = page.result.unreadable.first { throw failure.error }
            for document in page.documents { aggregator.add(document) }
            if snapshot.notesReads { reads = self.reads(of: whole, page.documents) }
            result = result ?? page.result
        }
        return (aggregator.values, result ?? ReadResult(.found([])), reads)
    }

    private static func check(_ aggregations: [Aggregation]) throws(StorageError) {
        guard (1...5).contains(aggregations.count) else {
            throw FirestoreDecoding.flaw("there are 1 to 5 aggregations, not \(aggregations.count)")
        }
        for case .count(let most?) in aggregations where most < 1 {
            throw FirestoreDecoding.flaw("“upTo” must be positive")
        }
    }

    private func explanation(
        _ explanation: QueryExplanation,
        of query: DocumentQuery,
        in snapshot: Snapshot
    ) async throws(StorageError) -> [UInt8] {
        // A plan for no documents is the same as for all of them.
        let result = try await read(
            .query(query.with { $0.limit = .first(0) }),
            asOf: snapshot.time,
            needsTime: true
        )
        let token = try await record(TransactionReads(), in: snapshot)
        var reply = ReplyList(first: token)
        return reply.finish(
            at: readTime(of: result),
            metrics: explanation.metrics(result.plan, of: query, count: nil),
            addition: addition(result)
        )
    }
}
