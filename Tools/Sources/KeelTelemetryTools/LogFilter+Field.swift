internal import Foundation
internal import KeelLogging
package import KeelStorage

extension LogFilter {
    /// A condition on a field of the metadata, with the comparisons of a query.
    ///
    /// Fields are texts. A number is compared with texts that are numbers, a boolean with `true` and `false`, which
    /// have no order. A record without the field does not match.
    package struct Field: Sendable, Hashable {
        package let name: String
        private let comparison: DocumentFilter.Comparison
        private let values: [DocumentValue]

        /// Creates a condition with a text, a number or a boolean, or with an array of these, any of which may match,
        /// for a comparison with several values; nil for another value.
        package init?(
            _ name: String,
            _ comparison: DocumentFilter.Comparison,
            _ value: DocumentValue
        ) {
            let isList = value.arrayValue != nil
            guard !isList || [.in, .notIn, .arrayContainsAny].contains(comparison) else {
                return nil
            }
            let values = value.arrayValue ?? [value]
            for value in values {
                switch value {
                case .string, .integer, .double, .boolean: continue
                default: return nil
                }
            }
            self.name = name
            self.comparison = comparison
            self.values = values
        }

        func matches(_ found: LogValue) -> Bool {
            let text = found.description
            switch comparison {
            case .equal, .in: return isAmong(text)
            case .notEqual, .notIn: return !isAmong(text)
            case .less: return isOrdered(text) { $0 == .orderedAscending }
            case .lessOrEqual: return isOrdered(text) { $0 != .orderedDescending }
            case .greater: return isOrdered(text) { $0 == .orderedDescending }
            case .greaterOrEqual: return isOrdered(text) { $0 != .orderedAscending }
            case .arrayContains, .arrayContainsAny:
                guard case .list(let elements) = found else { return false }
                return elements.contains { isAmong($0.description) }
            }
        }

        private func isAmong(_ text: String) -> Bool {
            values.contains { Self.order(of: text, to: $0) == .orderedSame }
        }

        private func isOrdered(_ text: String, _ test: (ComparisonResult) -> Bool) -> Bool {
            values.contains { Self.order(of: text, to: $0).map(test) ?? false }
        }

        private static func order(of text: String, to value: DocumentValue) -> ComparisonResult? {
            switch value {
            case .string(let other): return compared(text, other)
            case .boolean(let isTrue): return text == "\(isTrue)" ? .orderedSame : nil
            case .integer(let other):
                if let number = Int64(text) { return compared(number, other) }
                return number(text).map { compared($0, Double(other)) }
            case .double(let other):
                return other.isNaN ? nil : number(text).map { compared($0, other) }
            default: return nil
            }
        }

        private static func number(_ text: String) -> Double? {
            Double(text).flatMap { $0.isNaN ? nil : $0 }
        }

        private static func compared<Value: Comparable>(
            _ one: Value,
            _ other: Value
        ) -> ComparisonResult {
            if one == other { return .orderedSame }
            return one < other ? .orderedAscending : .orderedDescending
        }
    }
}
