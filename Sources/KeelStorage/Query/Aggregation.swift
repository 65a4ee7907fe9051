/// A value computed over the documents that a query finds.
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
