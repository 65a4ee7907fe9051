package import KeelDocuments

extension QueryExecution {
    /// Computes values over the query's documents; a count reads only index entries if these are provably the same.
    package mutating func values(
        of aggregations: [Aggregation],
        isStrict: Bool
    ) throws -> (values: [DocumentValue], plan: QueryPlan) {
        var aggregator = Aggregator(aggregations)
        if aggregations.allSatisfy({ $0.field == nil }) {
            let most = documentsDeciding(aggregations)
            mostCounted = most
            if let (count, plan) = try countedEntries(upTo: most) {
                aggregator.add(count: cut(count))
                return (aggregator.values, plan)
            }
        }
        // Only a query with a window holds documents until their order is known, and then only the aggregated fields.
        kept = aggregations.compactMap(\.field)
        self.aggregator = aggregator
        let (documents, plan) = try documents(isStrict: isStrict)
        guard !isStreamed else { return (self.aggregator?.values ?? [], plan) }
        var check = CancellationCheck(isOn: isCancellable)
        for document in documents {
            try check.step()
            aggregator.add(document)
        }
        return (aggregator.values, plan)
    }

    private func cut(_ count: Int) -> Int {
        min(max(0, count - prepared.query.offset), prepared.limit ?? .max)
    }

    private func documentsDeciding(_ counts: [Aggregation]) -> Int {
        var most = prepared.limit ?? .max
        let bounds = counts.map { if case .count(let most?) = $0 { most } else { Int.max } }
        if let highest = bounds.max() { most = min(most, highest) }
        return most.addingReportingOverflow(prepared.query.offset).overflow
            ? .max : most + prepared.query.offset
    }

    private func countedEntries(upTo most: Int) throws -> (count: Int, plan: QueryPlan)? {
        guard prepared.query.search == nil, past == nil,
            case .parts(let parts) = indexes.planner.access(for: prepared), parts.count == 1
        else { return nil }
        let access = QueryPlanner.reported(parts)
        let count: Int
        switch parts[0] {
        case .index(let scan):
            guard scan.isExact else { return nil }
            guard let stretch = try IndexStretch(scan, of: prepared, store, indexes) else {
                return (0, QueryPlan(access: access))
            }
            guard !stretch.needsScopeCheck else { return nil }
            count = try store.count(of: stretch, upTo: most)
        case .identifiers(let range, let isBackward):
            guard isByNamesAlone else { return nil }
            var order = try GroupOrder(prepared, in: range, isBackward: isBackward, store)
            var found = 0
            while found < most, let stretch = try order.next() {
                found += try store.count(of: stretch, upTo: most - found)
            }
            count = found
        case .documents: return nil
        }
        return (count, QueryPlan(access: access, examined: count))
    }
}
