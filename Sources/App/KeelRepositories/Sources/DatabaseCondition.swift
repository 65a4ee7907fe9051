internal import KeelStorage

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension DocumentFilter {
    /// Makes a database condition that matches at least what this filter matches.
    ///
    /// A part that the database cannot evaluate becomes nil, which matches everything: in a conjunction the other parts
    /// remain; a disjunction becomes nil as a whole.
    func condition<Condition>(
        all: ([Condition]) -> Condition,
        any: ([Condition]) -> Condition,
        comparison: (FieldPath, Comparison, DocumentValue) -> Condition?
    ) -> Condition? {
        switch self {
        case .field(let field, let operation, let value):
            let kept = Self.loosened(field, operation, value).compactMap {
                comparison(field, $0.0, $0.1)
            }
            return kept.count > 1 ? all(kept) : kept.first
        case .and(let filters):
            let kept = filters.compactMap {
                $0.condition(all: all, any: any, comparison: comparison)
            }
            return kept.count > 1 ? all(kept) : kept.first
        case .or(let filters):
            let parts = filters.map { $0.condition(all: all, any: any, comparison: comparison) }
            let kept = parts.compactMap(\.self)
            guard kept.count == parts.count else { return nil }
            return kept.count > 1 ? any(kept) : kept.first
        }
    }

    /// The comparisons for a database that stores times more precisely than a filter.
    ///
    /// A filter's time has whole microseconds, so both neighbors are included.
    private static func loosened(
        _ field: FieldPath,
        _ operation: Comparison,
        _ value: DocumentValue
    ) -> [(Comparison, DocumentValue)] {
        guard case .timestamp(let time) = value else {
            return value.hasTimes ? [] : [(operation, value)]
        }
        let next = time.microseconds.addingReportingOverflow(1)
        let previous = time.microseconds.subtractingReportingOverflow(1)
        guard !next.overflow, !previous.overflow else { return [] }
        let after = DocumentValue.timestamp(Timestamp(microseconds: next.partialValue))
        let before = DocumentValue.timestamp(Timestamp(microseconds: previous.partialValue))
        return switch operation {
        case .equal: [(.greaterOrEqual, before), (.lessOrEqual, after)]
        case .less, .lessOrEqual: [(.lessOrEqual, after)]
        case .greater, .greaterOrEqual: [(.greaterOrEqual, before)]
        default: []
        }
    }
}

extension DocumentValue {
    fileprivate var hasTimes: Bool {
        guard case .array(let values) = self else { return false }
        return values.contains { if case .timestamp = $0 { true } else { false } }
    }
}

extension Array {
    func fulfilling(_ predicate: Predicate<Element>) throws(DataSourceError) -> [Element] {
        do {
            return try filter { try predicate.evaluate($0) }
        } catch {
            throw DataSourceError(
                .invalidRequest,
                "The predicate cannot be evaluated.",
                cause: error
            )
        }
    }
}
