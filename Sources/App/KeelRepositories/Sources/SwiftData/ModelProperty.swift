#if canImport(SwiftData)
internal import Foundation
internal import KeelStorage
internal import KeelStorageAdapting
internal import SwiftData

/// A property of an element, and the model property with the same value.
///
/// The model property must be a stored attribute, not a computed property.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public struct ModelProperty<Element: ModelRepresentable>: Sendable {
    typealias Condition = any StandardPredicateExpression<Bool>
    typealias Variable = PredicateExpressions.Variable<Element.Model>

    /// The element property's name in filters; nil if it has none, so that no filter can use it.
    let field: FieldPath?

    /// Makes the database condition; nil if the database cannot evaluate it.
    let condition: @Sendable (DocumentFilter.Comparison, DocumentValue, Variable) -> Condition?

    /// Creates a pair of properties with the same value.
    public init<Value: Equatable & Codable & Sendable>(
        _ property: any KeyPath<Element, Value> & Sendable,
        _ modelProperty: any KeyPath<Element.Model, Value> & Sendable
    ) {
        field = Self.field(property)
        condition = { Self.equality(modelProperty, $0, $1, $2) }
    }

    /// Creates a pair of comparable properties with the same value.
    ///
    /// Text is compared only for equality, as databases order text differently from Swift.
    public init<Value: Comparable & Codable & Sendable>(
        _ property: any KeyPath<Element, Value> & Sendable,
        _ modelProperty: any KeyPath<Element.Model, Value> & Sendable
    ) {
        field = Self.field(property)
        condition = { comparison, value, model in
            typealias Comparison = PredicateExpressions.Comparison
            let path = PredicateExpressions.KeyPath(root: model, keyPath: modelProperty)
            let isOrder: Set<DocumentFilter.Comparison> = [
                .less, .lessOrEqual, .greater, .greaterOrEqual,
            ]
            guard isOrder.contains(comparison) else {
                return Self.equality(modelProperty, comparison, value, model)
            }
            guard Value.self != String.self,
                let constant = Self.read(Value.self, value).map(PredicateExpressions.Value.init)
            else { return nil }
            return switch comparison {
            case .less: Comparison(lhs: path, rhs: constant, op: .lessThan)
            case .lessOrEqual: Comparison(lhs: path, rhs: constant, op: .lessThanOrEqual)
            case .greater: Comparison(lhs: path, rhs: constant, op: .greaterThan)
            default: Comparison(lhs: path, rhs: constant, op: .greaterThanOrEqual)
            }
        }
    }

    private static func equality<Value: Equatable & Codable & Sendable>(
        _ modelProperty: any KeyPath<Element.Model, Value> & Sendable,
        _ comparison: DocumentFilter.Comparison,
        _ value: DocumentValue,
        _ model: Variable
    ) -> Condition? {
        let path = PredicateExpressions.KeyPath(root: model, keyPath: modelProperty)
        switch comparison {
        case .equal, .notEqual:
            guard let constant = read(Value.self, value).map(PredicateExpressions.Value.init) else {
                return nil
            }
            return comparison == .equal
                ? PredicateExpressions.Equal(lhs: path, rhs: constant)
                : PredicateExpressions.NotEqual(lhs: path, rhs: constant)
        case .in, .notIn:
            guard let list = read([Value].self, value) else { return nil }
            let among = PredicateExpressions.SequenceContains(
                sequence: PredicateExpressions.Value(list),
                element: path
            )
            return comparison == .in ? among : PredicateExpressions.Negation(among)
        default: return nil
        }
    }

    /// Creates a pair of optional properties with the same value.
    ///
    /// The database compares them with nil and for equality with a value.
    public init<Value: Comparable & Codable & Sendable>(
        _ property: any KeyPath<Element, Value?> & Sendable,
        _ modelProperty: any KeyPath<Element.Model, Value?> & Sendable
    ) {
        field = Self.field(property)
        condition = { comparison, value, model in
            let path = PredicateExpressions.KeyPath(root: model, keyPath: modelProperty)
            guard !value.isNull else {
                let none = PredicateExpressions.NilLiteral<Value>()
                switch comparison {
                case .equal: return PredicateExpressions.Equal(lhs: path, rhs: none)
                case .notEqual: return PredicateExpressions.NotEqual(lhs: path, rhs: none)
                default: return nil
                }
            }
            guard let constant = Self.read(Value.self, value) else { return nil }
            let some = PredicateExpressions.Value(Value?.some(constant))
            switch comparison {
            case .equal: return PredicateExpressions.Equal(lhs: path, rhs: some)
            case .notEqual: return PredicateExpressions.NotEqual(lhs: path, rhs: some)
            default: return nil
            }
        }
    }

    private static func field<Value>(_ property: KeyPath<Element, Value>) -> FieldPath? {
        (try? PredicateNames.names(of: property, DocumentEncoder())).map(FieldPath.init(names:))
    }

    private static func read<Value: Decodable>(
        _ type: Value.Type,
        _ value: DocumentValue
    ) -> Value? {
        try? DocumentDecoder().decodeValue(type, from: value)
    }

    // MARK: Combining

    static func joined(
        _ conditions: [Condition],
        by join: (Condition, Condition) -> Condition
    ) -> Condition {
        guard let first = conditions.first else { return PredicateExpressions.Value(true) }
        return conditions.dropFirst().reduce(first, join)
    }

    static func both(
        _ one: some StandardPredicateExpression<Bool>,
        _ other: some StandardPredicateExpression<Bool>
    ) -> Condition {
        PredicateExpressions.Conjunction(lhs: one, rhs: other)
    }

    static func either(
        _ one: some StandardPredicateExpression<Bool>,
        _ other: some StandardPredicateExpression<Bool>
    ) -> Condition {
        PredicateExpressions.Disjunction(lhs: one, rhs: other)
    }
}
#endif
