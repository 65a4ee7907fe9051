/// A value computed over the documents that a query finds.
///
/// All values of one request are computed over the same documents: those that have every field of
/// the sums and averages, whatever their kind. A query with a limit or an offset is ordered by
/// these fields too, after its own orders, so that it takes its number of such documents. These are
/// Firestore's rules.
public enum Aggregation: Sendable, Hashable {
    /// How many there are; counting stops at `upTo` if that is given.
    case count(upTo: Int? = nil)
    /// The sum of a field's numbers: an integer unless a double takes part or the sum overflows;
    /// NaN if one of them is; 0 when there are none. What is no number is left out.
    case sum(FieldPath)
    /// The mean of a field's numbers as a double; null when there are none.
    case average(FieldPath)

    package var field: FieldPath? {
        switch self {
        case .count: nil
        case .sum(let field), .average(let field): field
        }
    }
}

extension DocumentQuery {
    /// The query as several values are computed over it: where its result is cut, what lacks one of
    /// their fields is left out before, by an order.
    package func ordered(for aggregations: [Aggregation]) -> DocumentQuery {
        guard limit != nil || offset > 0 else { return self }
        let implied = completeOrders
        let missing = aggregations.compactMap(\.field).filter { field in
            !implied.contains { $0.field == field }
        }
        guard !missing.isEmpty, !orders.contains(where: \.field.isDocumentID) else { return self }
        let direction = implied.last?.direction ?? .ascending
        var query = self
        query.orders = implied.filter { !$0.field.isDocumentID }
        for field in missing where !query.orders.contains(where: { $0.field == field }) {
            query.orders.append(Order(field, direction))
        }
        return query
    }
}
