/// A value computed over the documents that a query finds.
///
/// As in Firestore, all values of one request cover the same documents: those that have every field of the sums and
/// averages, of whatever kind. A query with a limit or an offset is ordered by these fields, too, after its own orders,
/// unless it is ordered by the id or its start or end has an id.
public enum Aggregation: Sendable, Hashable {
    /// The number of documents, at most `upTo`.
    case count(upTo: Int? = nil)
    /// The sum of a field's numbers, 0 without any: an integer, unless a number is a double or the sum overflows. Other
    /// values are ignored.
    case sum(FieldPath)
    /// The mean of a field's numbers as a double; null without numbers.
    case average(FieldPath)

    package var field: FieldPath? {
        switch self {
        case .count: nil
        case .sum(let field), .average(let field): field
        }
    }
}

extension DocumentQuery {
    /// Returns the query over which the values are computed.
    ///
    /// With a limit or an offset, added orders exclude documents that lack one of the fields.
    package func ordered(for aggregations: [Aggregation]) -> DocumentQuery {
        guard limit != nil || offset > 0 else { return self }
        let implied = completeOrders
        let missing = aggregations.compactMap(\.field).filter { field in
            !implied.contains { $0.field == field }
        }
        let bounded = max(start?.values.count ?? 0, end?.values.count ?? 0)
        guard !missing.isEmpty, bounded < implied.count,
            !orders.contains(where: \.field.isDocumentID)
        else { return self }
        let direction = implied.last?.direction ?? .ascending
        var query = self
        query.orders = implied.filter { !$0.field.isDocumentID }
        for field in missing where !query.orders.contains(where: { $0.field == field }) {
            query.orders.append(Order(field, direction))
        }
        return query
    }
}
