/// A value computed over the documents that a query finds.
///
/// All values in one request are computed over the same documents: those that have every field of the sums and
/// averages, of whatever kind. If the query has a limit or an offset, it is ordered by these fields after its own
/// orders, so that it selects the requested number of such documents. These rules are those of Firestore.
public enum Aggregation: Sendable, Hashable {
    /// The number of documents; counting stops at `upTo` if given.
    case count(upTo: Int? = nil)
    /// The sum of a field's numbers: an integer, unless a number is a double or the sum overflows. The sum is NaN if a
    /// number is NaN, and 0 without numbers. Other kinds of values are ignored.
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
    /// With a limit or an offset, added orders exclude documents that lack one of the fields before the cut. There are
    /// none if the query is ordered by path, or if its start or end has a path.
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
