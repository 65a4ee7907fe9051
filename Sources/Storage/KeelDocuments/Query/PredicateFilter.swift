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
    /// Other expressions throw. Where Swift and queries differ, the rules of queries apply (``DocumentFilter``):
    ///
    /// - `== nil` finds null, as `encodeNil` stores it, and not a missing field: ``DocumentEncoder`` omits nil
    ///   properties.
    /// - `!= x` and `!list.contains` on an optional property throw, because a query would exclude nil. Write
    ///   `$0.a != nil && $0.a != x`.
    /// - Text is compared by its UTF-8 bytes. A stored NaN matches neither `<`, `<=`, `>` and `>=` nor their negations.
    /// - A missing field matches no condition, negated or not; a value of another kind only `!=` and `!list.contains`.
    ///
    /// A field has the name of its property, unless the type's ``PredicateFieldNaming`` has another.
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

    /// Returns the conjunction of filters, flattened, with each condition once.
    ///
    /// A condition that a field is not null is dropped if another inequality on the field implies it: a query can have
    /// only one.
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
    /// See ``DocumentFilter/init(_:encoder:)``.
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
