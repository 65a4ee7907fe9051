#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension DocumentFilter {
    /// Translates a predicate of Foundation.
    ///
    /// ```swift
    /// let filter = try DocumentFilter(#Predicate<Restaurant> {
    ///     $0.borough == borough && $0.rating >= 4 && $0.tags.contains("late")
    /// })
    /// ```
    ///
    /// | predicate | condition |
    /// |---|---|
    /// | `$0.a == x`, `!=`, `<`, `<=`, `>`, `>=`, either way round | the comparison |
    /// | `$0.address.city`, `$0.address?.city`, `$0.a!` | a field of a map; the field |
    /// | `$0.isOpen`, `!$0.isOpen` | equal to true, to false |
    /// | `$0.a == nil`, `$0.a != nil` | equal to null; not equal to null |
    /// | `list.contains($0.a)` | `in`; negated, `notIn` |
    /// | `$0.tags.contains(x)` | `arrayContains` |
    /// | `(1...5).contains($0.a)`, `(1..<5)` | two comparisons |
    /// | `$0.name.starts(with: "Mo")` | two comparisons, by the bytes of UTF-8 |
    /// | `&&`, `\|\|`, `!` | and, or, the opposite condition |
    ///
    /// Everything else is refused, and so is what would not mean the same. Where Swift and a query
    /// see things differently, the query's rules hold (``DocumentFilter``):
    ///
    /// - `== nil` finds fields that are stored as null. ``DocumentEncoder`` leaves nil properties
    ///   out, and no query finds a missing field; store null with `encodeNil` if you need to.
    /// - `!= x` and `!list.contains` on an optional property are refused, as Swift would keep the
    ///   documents where it is nil and a query does not; `$0.a != nil && $0.a != x` is exact.
    /// - Text is compared by the bytes of its UTF-8, where Swift takes “é” in one scalar or two for
    ///   the same. A stored NaN is less than every number.
    /// - A document whose field is missing or of another kind fulfils no condition on the field,
    ///   negated or not; a type that decodes the document has no such property.
    ///
    /// A field has the name of its property, unless the type conforms to ``PredicateFieldNaming``:
    /// let it where `CodingKeys` rename a property, which a predicate cannot see, and for properties
    /// with a wrapper such as ``DocumentID``.
    ///
    /// The encoder makes values of the predicate's constants, and its key strategy applies to the
    /// names of properties.
    ///
    /// - Parameters:
    ///   - predicate: The condition.
    ///   - encoder: How constants are encoded.
    /// - Throws: ``StorageError/Code/unsupported``, naming the expression and what to use instead;
    ///   ``StorageError/Code/encodingFailed`` for a constant that cannot be stored.
    public init<T>(
        _ predicate: Predicate<T>,
        encoder: DocumentEncoder = DocumentEncoder()
    ) throws(StorageError) {
        let scope = PredicateScope(
            encoder: encoder,
            variables: [predicate.variable.key: FieldPath(names: [])]
        )
        self = try scope.filter(predicate.expression, negated: false)
    }

    /// All of these hold; an `and` among them becomes part of the one.
    ///
    /// That a field is not null is left out where another condition says so: a query can have one
    /// condition of this kind.
    static func allOf(_ filters: [DocumentFilter]) -> DocumentFilter {
        let all = filters.flatMap { filter in
            if case .and(let inner) = filter { inner } else { [filter] }
        }
        let kept = all.filter { filter in
            guard case .field(let field, .notEqual, .null) = filter else { return true }
            return !all.contains { other in
                guard case .field(field, let comparison, _) = other, other != filter else {
                    return false
                }
                return comparison.isInequality
            }
        }
        return kept.count == 1 ? kept[0] : .and(kept)
    }

    /// At least one of these holds; an `or` among them becomes part of the one.
    static func anyOf(_ filters: [DocumentFilter]) -> DocumentFilter {
        .or(
            filters.flatMap { filter in
                if case .or(let inner) = filter { inner } else { [filter] }
            }
        )
    }
}

extension DocumentQuery {
    /// Adds the condition that a predicate of Foundation states.
    ///
    /// ``DocumentFilter/init(_:encoder:)`` lists what can be expressed, and where a query's rules
    /// differ from Swift's.
    ///
    /// - Throws: ``StorageError/Code/unsupported``, naming the expression and what to use instead;
    ///   ``StorageError/Code/encodingFailed`` for a constant that cannot be stored.
    public func `where`<T>(
        _ predicate: Predicate<T>,
        encoder: DocumentEncoder = DocumentEncoder()
    ) throws(StorageError) -> DocumentQuery {
        self.where(try DocumentFilter(predicate, encoder: encoder))
    }
}
