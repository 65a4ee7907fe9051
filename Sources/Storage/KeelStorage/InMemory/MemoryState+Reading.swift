internal import KeelDocuments
internal import KeelStorageAdapting

extension MemoryState {
    func answer(_ request: ReadRequest) throws(StorageError) -> ReadResult {
        if let reads = request.reads { try check(reads) }
        var result: ReadResult
        switch request.operation {
        case .documents(let paths):
            let documents = paths.map { self[$0] }
            let count = AnswerSize.count(of: documents, upTo: request.maximumBytes)
            result = ReadResult(.documents(Array(documents.prefix(count))))
            result.isPartial = count < documents.count
        case .query(let query):
            let (documents, plan) = try self.result(of: query, isStrict: request.isStrict)
            result = ReadResult(.found(documents), plan: plan)
            result.end(at: request.maximumBytes, of: query)
        case .aggregate(let query, let aggregations):
            // Aggregations may need fields that the projection leaves out.
            let whole = query.ordered(for: aggregations).with { $0.projection = nil }
            let (documents, plan) = try self.result(of: whole, isStrict: request.isStrict)
            let values = try StorageEvaluator.values(of: aggregations, over: documents)
            result = ReadResult(.values(values), plan: plan)
        case .collections(let parent):
            result = ReadResult(.names(names(under: parent)))
        }
        if request.needsPosition { result.position = position }
        if request.needsTime {
            // Later times may still get changes.
            let last = latestSequence.map { Timestamp(microseconds: $0) } ?? time
            result.time = request.asOf.map { min($0, last) } ?? last
        }
        return result
    }

    func check(_ reads: TransactionReads) throws(StorageError) {
        if let known = reads.position, known == position { return }
        try StorageEvaluator.check(
            reads,
            current: { path throws(StorageError) in self[path] },
            found: { query throws(StorageError) in try result(of: query).documents }
        )
    }

    func result(
        of query: DocumentQuery,
        isStrict: Bool = false
    ) throws(StorageError) -> (documents: [Document], plan: QueryPlan) {
        let prepared = PreparedQuery(query)
        let search = try query.search.map { search throws(StorageError) in
            try SearchFilter(search, in: query.scope, among: schema.searches)
        }
        var plan = QueryPlanner(schema.indexes).plan(for: prepared)
        if let search { plan = QueryPlan(access: .search(search.definition.name)) }
        if isStrict, plan.access == .scan { throw StorageError.indexRequired(by: plan, for: query) }
        var places: [(key: [UInt8], document: Document)] = []
        var check = CancellationCheck()
        for (collection, documents) in collections where prepared.covers(collection) {
            plan.examined += documents.count
            for document in documents.values {
                try check.step()
                guard let key = prepared.place(of: document) else { continue }
                if let search, !search.matches(document) { continue }
                places.append((key, document))
            }
        }
        return (try prepared.result(of: places), plan)
    }

    private func names(under parent: DocumentPath?) -> [String] {
        let prefix = parent.map { $0.string + "/" } ?? ""
        // As bytes, because a set of strings would merge canonically equivalent names.
        let names = collections.keys.compactMap { collection -> [UInt8]? in
            guard collection.string.hasBytePrefix(prefix) else { return nil }
            let rest = collection.string.utf8.dropFirst(prefix.utf8.count)
            return rest.split(separator: UInt8(ascii: "/")).first.map(Array.init)
        }
        return Set(names).sorted { $0.lexicographicallyPrecedes($1) }
            .map { String(decoding: $0, as: UTF8.self) }
    }
}

extension ReadResult {
    fileprivate mutating func end(at maximumBytes: Int?, of query: DocumentQuery) {
        guard case .found(let documents) = payload else { return }
        if case .last = query.limit {
            let count = AnswerSize.count(of: documents.reversed(), upTo: maximumBytes)
            payload = .found(Array(documents.suffix(count)))
            isPartial = count < documents.count
        } else {
            let count = AnswerSize.count(of: documents, upTo: maximumBytes)
            payload = .found(Array(documents.prefix(count)))
            isPartial = count < documents.count
        }
    }
}
