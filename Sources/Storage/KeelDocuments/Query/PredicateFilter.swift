#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension DocumentFilter {
    /// Creates a filter from a Foundation predicate.
    ///
    /// ```swift
    /// let filter = try DocumentFilter(#Predicate<Restaurant> {
    ///     $0.borough == borough && $0.rating >= 4 && $0.tags.contains("late")
    /// })
    /// ```
    ///
    /// | predicate | condition |
    /// |---|---|
    /// | `$0.a == x`, `!=`, `<`, `<=`, `>`, `>=`, in either order | the comparison |
    /// | `$0.address.city`, `$0.address?.city`, `$0.a!` | a field of a map; the field |
    /// | `$0.isOpen`, `!$0.isOpen` | equal to true, to false |
    /// | `$0.a == nil`, `$0.a != nil` | equal to null; not equal to null |
    /// | `list.contains($0.a)` | `in`; negated, `notIn` |
    /// | `$0.tags.contains(x)` | `arrayContains` |
    /// | `(1...5).contains($0.a)`, `(1..<5)` | two comparisons |
    /// | `$0.name.starts(with: "Mo")` | two comparisons, by UTF-8 bytes |
    /// | `&&`, `\|\|`, `!` | and, or, the opposite condition |
    ///
    /// Other expressions throw, as does any expression whose meaning would change. Where Swift and queries differ, the
    /// rules of queries apply (``DocumentFilter``):
    ///
    /// - `== nil` finds fields that are stored as null. ``DocumentEncoder`` omits nil properties, and no query finds a
    ///   missing field; store null with `encodeNil` if you need to find it.
    /// - `!= x` and `!list.contains` on an optional property throw, because Swift would include the documents where the
    ///   property is nil and a query does not. `$0.a != nil && $0.a != x` has the same meaning in both.
    /// - Text is compared by its UTF-8 bytes, whereas Swift treats the one-scalar and two-scalar spellings of “é” as
    ///   equal. A stored NaN is less than every number.
    /// - A document whose field is missing or of another kind matches no condition on the field, negated or not; a type
    ///   that decodes the document has no such property.
    ///
    /// A field has the name of its property unless the type conforms to ``PredicateFieldNaming``. Conform to it if
    /// `CodingKeys` rename a property, which a predicate cannot see, and for properties with a wrapper such as
    /// ``DocumentID``.
    ///
    /// - Parameters:
    ///   - predicate: The condition.
    ///   - encoder: The encoder for constants; its key strategy applies to the names of properties.
    /// - Throws: ``StorageError/Code/unsupported``, naming the expression and an alternative;
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

    /// Returns the conjunction of filters, with nested conjunctions flattened, and each condition once.
    ///
    /// A condition that a field is not null is dropped if another inequality on the field implies it, because a query
    /// can have only one condition of this kind.
    static func allOf(_ filters: [DocumentFilter]) -> DocumentFilter {
        var all: [DocumentFilter] = []
        for filter in filters {
            let parts: [DocumentFilter] =
                if case .and(let inner) = filter { inner } else { [filter] }
            for part in parts where !all.contains(part) { all.append(part) }
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

    /// Returns the disjunction of filters, with nested disjunctions flattened.
    static func anyOf(_ filters: [DocumentFilter]) -> DocumentFilter {
        .or(
            filters.flatMap { filter in
                if case .or(let inner) = filter { inner } else { [filter] }
            }
        )
    }
}

extension DocumentQuery {
    /// Adds a Foundation predicate as a condition.
    ///
    /// ``DocumentFilter/init(_:encoder:)`` lists the supported expressions and the differences between the rules of
    /// queries and of Swift.
    ///
    /// - Throws: ``StorageError/Code/unsupported``, naming the expression and an alternative;
    ///   ``StorageError/Code/encodingFailed`` for a constant that cannot be stored.
    public func `where`<T>(
        _ predicate: Predicate<T>,
        encoder: DocumentEncoder = DocumentEncoder()
    ) throws(StorageError) -> DocumentQuery {
        self.where(try DocumentFilter(predicate, encoder: encoder))
    }
}
