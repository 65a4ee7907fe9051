#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PredicateExpressions.Conjunction: PredicateCondition {
    func filter(negated: Bool, _ scope: PredicateScope) throws(StorageError) -> DocumentFilter {
        var scope = scope
        // A negated conjunction is a disjunction, in which neither side implies anything about the other.
        if !negated { scope.present.formUnion(try presentFields(scope)) }
        let filters = [
            try scope.filter(lhs, negated: negated), try scope.filter(rhs, negated: negated),
        ]
        return negated ? .anyOf(filters) : .allOf(filters)
    }

    func presentFields(_ scope: PredicateScope) throws(StorageError) -> Set<FieldPath> {
        try scope.presentFields(lhs).union(scope.presentFields(rhs))
    }
}

extension PredicateExpressions.Disjunction: PredicateCondition {
    func filter(negated: Bool, _ scope: PredicateScope) throws(StorageError) -> DocumentFilter {
        let filters = [
            try scope.filter(lhs, negated: negated), try scope.filter(rhs, negated: negated),
        ]
        return negated ? .allOf(filters) : .anyOf(filters)
    }
}

extension PredicateExpressions.Negation: PredicateCondition {
    func filter(negated: Bool, _ scope: PredicateScope) throws(StorageError) -> DocumentFilter {
        try scope.filter(wrapped, negated: !negated)
    }
}

extension PredicateExpressions.Equal: PredicateCondition {
    func filter(negated: Bool, _ scope: PredicateScope) throws(StorageError) -> DocumentFilter {
        try scope.equality(lhs, rhs, isEqual: !negated)
    }
}

extension PredicateExpressions.NotEqual: PredicateCondition {
    func filter(negated: Bool, _ scope: PredicateScope) throws(StorageError) -> DocumentFilter {
        try scope.equality(lhs, rhs, isEqual: negated)
    }

    func presentFields(_ scope: PredicateScope) throws(StorageError) -> Set<FieldPath> {
        switch (try scope.operand(lhs), try scope.operand(rhs)) {
        case (.field(let field, _), .constant(nil)), (.constant(nil), .field(let field, _)): [field]
        default: []
        }
    }
}

extension PredicateExpressions.Comparison: PredicateCondition {
    func filter(negated: Bool, _ scope: PredicateScope) throws(StorageError) -> DocumentFilter {
        var comparison: DocumentFilter.Comparison =
            switch op {
            case .lessThan: .less
            case .lessThanOrEqual: .lessOrEqual
            case .greaterThan: .greater
            case .greaterThanOrEqual: .greaterOrEqual
            @unknown default: throw PredicateScope.unsupported(self)
            }
        switch (try scope.operand(lhs), try scope.operand(rhs)) {
        case (.field(let field, let isOptional), .constant(let constant?)):
            if negated { comparison = comparison.opposite }
            if negated, isOptional { throw PredicateScope.absence(of: field) }
            return .field(field, comparison, try scope.value(constant, for: field))
        case (.constant(let constant?), .field(let field, let isOptional)):
            comparison = comparison.mirrored
            if negated { comparison = comparison.opposite }
            if negated, isOptional { throw PredicateScope.absence(of: field) }
            return .field(field, comparison, try scope.value(constant, for: field))
        default: return try scope.equality(lhs, rhs, isEqual: true)
        }
    }
}

extension DocumentFilter.Comparison {
    /// The comparison that holds if this one does not.
    fileprivate var opposite: Self {
        switch self {
        case .less: .greaterOrEqual
        case .lessOrEqual: .greater
        case .greater: .lessOrEqual
        default: .less
        }
    }

    /// The equivalent comparison with its sides exchanged.
    fileprivate var mirrored: Self {
        switch self {
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        default: .lessOrEqual
        }
    }
}

extension PredicateExpressions.SequenceContains: PredicateCondition {
    func filter(negated: Bool, _ scope: PredicateScope) throws(StorageError) -> DocumentFilter {
        guard LHS.Output.self != String.self else {
            throw PredicateScope.unsupported(self, PredicateAdvice.text)
        }
        if let constants = try? sequence.evaluate(PredicateBindings()) {
            guard case .field(let field, let isOptional) = try scope.operand(element) else {
                throw PredicateScope.unsupported(self, PredicateAdvice.constant)
            }
            var values: [DocumentValue] = []
            for constant in constants { values.append(try scope.value(constant, for: field)) }
            // As a list member, null would match nothing; negated, it would let nothing match.
            let some = values.filter { !$0.isNull }
            guard negated else {
                guard some.count < values.count else { return .in(field, values) }
                let none = DocumentFilter.equal(field, .null)
                return some.isEmpty ? none : .anyOf([none, .in(field, some)])
            }
            guard !isOptional || scope.present.contains(field) else {
                throw PredicateScope.absence(of: field)
            }
            // A list with nil alone excludes no other value, and a query refuses an empty list.
            return some.isEmpty && !values.isEmpty ? .notEqual(field, .null) : .notIn(field, some)
        }
        guard !negated else {
            throw PredicateScope.unsupported(
                self,
                "no query finds the arrays that lack an element; filter what the query finds"
            )
        }
        guard case .field(let field, _) = try scope.operand(sequence),
            case .constant(let constant?) = try scope.operand(element)
        else { throw PredicateScope.unsupported(self, PredicateAdvice.constant) }
        return .arrayContains(field, try scope.value(constant))
    }
}

extension PredicateExpressions.SequenceStartsWith: PredicateCondition {
    func filter(negated: Bool, _ scope: PredicateScope) throws(StorageError) -> DocumentFilter {
        guard case .field(let field, _) = try scope.operand(base),
            case .constant(let constant?) = try scope.operand(prefix),
            let prefix = constant as? String
        else {
            throw PredicateScope.unsupported(self, "compare a string’s beginning with a constant")
        }
        let next = prefix.afterAllWithPrefix
        guard negated else {
            let first = DocumentFilter.greaterOrEqual(field, .string(prefix))
            return next.map { .and([first, .less(field, .string($0))]) } ?? first
        }
        guard let next, !prefix.isEmpty else {
            throw PredicateScope.unsupported(self, "every string begins with this one")
        }
        return .or([.less(field, .string(prefix)), .greaterOrEqual(field, .string(next))])
    }
}

extension String {
    /// The first string in UTF-8 order after all strings with this prefix; nil if there is none.
    fileprivate var afterAllWithPrefix: String? {
        var scalars = Array(unicodeScalars)
        while let last = scalars.popLast() {
            // Surrogates are not scalars, so they are skipped.
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let successor = Unicode.Scalar(next) else { continue }
            var result = String.UnicodeScalarView()
            result.append(contentsOf: scalars)
            result.append(successor)
            return String(result)
        }
        return nil
    }
}

extension PredicateExpressions.RangeExpressionContains: PredicateCondition {
    func filter(negated: Bool, _ scope: PredicateScope) throws(StorageError) -> DocumentFilter {
        guard case .field(let field, _) = try scope.operand(element),
            let range = try? range.evaluate(PredicateBindings()),
            let bounds = (range as? any PredicateRange)?.bounds
        else {
            throw PredicateScope.unsupported(self, "write the two comparisons out, as in $0.x >= 1")
        }
        let low = try scope.value(bounds.low, for: field)
        let high = try scope.value(bounds.high, for: field)
        if negated {
            let above: DocumentFilter =
                bounds.isClosed ? .greater(field, high) : .greaterOrEqual(field, high)
            return .or([.less(field, low), above])
        }
        let below: DocumentFilter =
            bounds.isClosed ? .lessOrEqual(field, high) : .less(field, high)
        return .and([.greaterOrEqual(field, low), below])
    }
}

private protocol PredicateRange {
    var bounds: (low: Any, high: Any, isClosed: Bool) { get }
}

extension ClosedRange: PredicateRange {
    fileprivate var bounds: (low: Any, high: Any, isClosed: Bool) { (lowerBound, upperBound, true) }
}

extension Range: PredicateRange {
    fileprivate var bounds: (low: Any, high: Any, isClosed: Bool) {
        (lowerBound, upperBound, false)
    }
}
