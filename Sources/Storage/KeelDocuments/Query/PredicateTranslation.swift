#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The context of a predicate's translation.
struct PredicateScope {
    /// Converts constants and names of properties.
    let encoder: DocumentEncoder
    var variables: [PredicateExpressions.VariableID: FieldPath]
    /// The fields that another condition guarantees not to be nil.
    var present: Set<FieldPath> = []

    static func unsupported(_ expression: Any, _ advice: String? = nil) -> StorageError {
        let type = String(describing: type(of: expression)).prefix { $0 != "<" }
        let advice = advice ?? PredicateAdvice.advice(for: String(type))
        return StorageError(
            .unsupported,
            "queries cannot express the predicate’s \(type): \(advice)"
        )
    }

    func value(_ constant: Any) throws(StorageError) -> DocumentValue {
        guard let constant = constant as? any Encodable else {
            throw StorageError(
                .unsupported,
                "the predicate compares with a \(type(of: constant)), which is not Encodable"
            )
        }
        let value = try encoder.encodeValue(constant)
        guard !value.isNaN else {
            throw StorageError(
                .unsupported,
                "the predicate compares with NaN, which is unequal to everything in Swift and equal "
                    + "to itself in queries; use DocumentFilter.equal or notEqual"
            )
        }
        return value
    }

    func value(_ constant: Any, for field: FieldPath) throws(StorageError) -> DocumentValue {
        let value = try value(constant)
        // Ids are strings in paths, whatever their Swift type.
        if field.isDocumentID, case .integer(let id) = value { return .string(String(id)) }
        return value
    }
}

enum PredicateOperand {
    /// A field, and whether its Swift type is optional.
    case field(FieldPath, isOptional: Bool)
    /// A value that does not depend on the document.
    case constant(Any?)
}

protocol PredicateCondition {
    func filter(negated: Bool, _ scope: PredicateScope) throws(StorageError) -> DocumentFilter
    /// Returns the fields that cannot be nil if the condition holds.
    func presentFields(_ scope: PredicateScope) throws(StorageError) -> Set<FieldPath>
}

extension PredicateCondition {
    func presentFields(_ scope: PredicateScope) -> Set<FieldPath> { [] }
}

protocol PredicateField {
    func field(_ scope: PredicateScope) throws(StorageError) -> FieldPath
}

extension PredicateScope {
    func filter(
        _ expression: some PredicateExpression,
        negated: Bool
    ) throws(StorageError) -> DocumentFilter {
        guard let condition = expression as? any PredicateCondition else {
            throw Self.unsupported(expression)
        }
        return try condition.filter(negated: negated, self)
    }

    func presentFields(
        _ expression: some PredicateExpression
    ) throws(StorageError) -> Set<FieldPath> {
        try (expression as? any PredicateCondition)?.presentFields(self) ?? []
    }

    /// Returns the operand of an expression: a constant if it can be evaluated without a document.
    func operand<Expression: PredicateExpression>(
        _ expression: Expression
    ) throws(StorageError) -> PredicateOperand {
        if let constant = try? expression.evaluate(PredicateBindings()) {
            return .constant(Optional(constant).content)
        }
        guard let field = expression as? any PredicateField else {
            throw Self.unsupported(expression)
        }
        let isOptional = Expression.Output.self is any OptionalType.Type
        return .field(try field.field(self), isOptional: isOptional)
    }

    func equality(
        _ left: some PredicateExpression,
        _ right: some PredicateExpression,
        isEqual: Bool
    ) throws(StorageError) -> DocumentFilter {
        switch (try operand(left), try operand(right)) {
        case (.field(let field, let isOptional), .constant(let constant)),
            (.constant(let constant), .field(let field, let isOptional)):
            guard let constant else {
                return isEqual ? .equal(field, .null) : .notEqual(field, .null)
            }
            let value = try value(constant, for: field)
            if isEqual { return .equal(field, value) }
            guard !isOptional || present.contains(field) else { throw Self.absence(of: field) }
            return .notEqual(field, value)
        case (.field(let one, _), .field(let other, _)):
            throw StorageError(
                .unsupported,
                "the predicate compares “\(one)” with “\(other)”; queries compare a field with a "
                    + "constant: store the comparison’s result in a separate field"
            )
        case (.constant, .constant):
            throw StorageError(
                .unsupported,
                "the predicate compares two constants; decide in Swift whether to add the condition"
            )
        }
    }

    /// Returns the error for a negation that excludes nil in queries but not in Swift.
    static func absence(of field: FieldPath) -> StorageError {
        StorageError(
            .unsupported,
            "the predicate excludes a value of the optional “\(field)”, which in Swift keeps "
                + "documents without the field and in a query does not; add "
                + "“&& $0.\(field) != nil” to exclude them"
        )
    }
}

protocol OptionalType {
    var content: Any? { get }
}

extension Optional: OptionalType {
    var content: Any? {
        guard let wrapped = self else { return nil }
        guard let inner = (wrapped as Any) as? any OptionalType else { return wrapped }
        return inner.content
    }
}
