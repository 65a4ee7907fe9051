internal import KeelStorage
internal import KeelStorageAdapting

extension DifferentialFuzz {
    /// An operation or a value that a run leaves out, because one of the adapters does not have it.
    package enum Omission: Sendable, Hashable, CaseIterable {
        /// The double -0.0, of which only the sign is lost.
        case negativeZeros
        /// The operation `verify`.
        case verifications
        /// Several writes of one document in a batch.
        case repeatedWrites
        /// Queries that order documents by their ids from the last to the first.
        case descendingIDs
        /// Queries over everything below a document from the last id to the first.
        case reversedTrees
        /// Queries over everything below a document that a transaction reads.
        case treesInTransactions
        /// Queries of a collection group below a document.
        case groupsBelowDocuments
        /// Conditions on the id together with conditions on fields; and aggregated fields of queries with such conditions,
        /// or with an order, a start or an end.
        case idsWithFields
        /// An `or` with a condition such as `a > null`, which matches nothing, but requires a field.
        case emptyAlternatives
    }
}

extension FuzzSource {
    func omits(_ omission: DifferentialFuzz.Omission) -> Bool { omissions.contains(omission) }

    func omits(_ query: DocumentQuery) -> Bool {
        if isReversed(query), omits(query.scope.isEverything ? .reversedTrees : .descendingIDs) {
            return true
        }
        if case .group(_, under: _?) = query.scope, omits(.groupsBelowDocuments) { return true }
        if omits(.emptyAlternatives), hasEmptyAlternative(query.filter) { return true }
        let fields = (query.filter?.comparisons ?? []).map(\.field) + query.orders.map(\.field)
        return omits(.idsWithFields) && comparesID(query)
            && !fields.allSatisfy(\.isDocumentID)
    }

    func omits(_ query: DocumentQuery, _ aggregations: [Aggregation]) -> Bool {
        guard omits(.idsWithFields), aggregations.contains(where: { $0.field != nil }) else {
            return false
        }
        let isBounded = query.start != nil || query.end != nil || !query.orders.isEmpty
        return query.scope.isEverything || isBounded || comparesID(query)
    }

    private func hasEmptyAlternative(_ filter: DocumentFilter?) -> Bool {
        switch filter {
        case .or(let filters)?:
            filters.flatMap(\.comparisons).contains { _, comparison, value in
                comparison.isInequality && comparison != .notEqual && !value.isFindable
            }
        case .and(let filters)?: filters.contains(where: hasEmptyAlternative)
        default: false
        }
    }

    private func comparesID(_ query: DocumentQuery) -> Bool {
        (query.filter?.comparisons ?? []).contains { $0.field.isDocumentID }
    }

    /// Whether the documents come from the last id to the first, with no field before it.
    private func isReversed(_ query: DocumentQuery) -> Bool {
        guard let first = query.completeOrders.first, first.field.isDocumentID else { return false }
        if case .last = query.limit { return first.direction == .ascending }
        return first.direction == .descending
    }
}

extension FuzzBatch {
    mutating func omit(_ omissions: Set<DifferentialFuzz.Omission>) {
        if omissions.contains(.verifications) {
            writes.removeAll { if case .verify = $0.operation { true } else { false } }
        }
        if omissions.contains(.repeatedWrites) {
            var seen: Set<DocumentPath> = []
            writes = writes.filter { seen.insert($0.path).inserted }
        }
    }
}

extension DocumentQuery.Scope {
    var isEverything: Bool { if case .everything = self { true } else { false } }
}
