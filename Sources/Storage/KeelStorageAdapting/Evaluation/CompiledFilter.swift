package import KeelDocuments

package indirect enum CompiledFilter: Sendable {
    case compare(Subject, Test)
    case and([CompiledFilter])
    case or([CompiledFilter])

    package enum Subject: Sendable {
        case field(CompiledFieldPath)
        case path
    }

    package enum Test: Sendable {
        /// The key is one of these keys, or the encoded value is one of these encodings.
        ///
        /// Equal bytes mean equal values and need no key; values such as 3 and 3.0 are equal but differ in their bytes.
        case isOne(of: [[UInt8]], encoded: [[UInt8]])
        /// The key is neither null nor one of these keys; with null among them, nothing matches.
        case isNone(of: [[UInt8]])
        /// The key has the constant's kind and this relation to the constant.
        case relates(DocumentFilter.Comparison, [UInt8])
        /// The value is an array that contains an element with one of these keys.
        case contains([[UInt8]])
    }

    /// Compiles a validated filter.
    ///
    /// Only equality finds null and NaN: as list members and array elements they match nothing, as in Firestore.
    package init(_ filter: DocumentFilter, scope: DocumentQuery.Scope) {
        switch filter {
        case .and(let filters): self = .and(filters.map { CompiledFilter($0, scope: scope) })
        case .or(let filters): self = .or(filters.map { CompiledFilter($0, scope: scope) })
        case .field(let field, let comparison, let value):
            let subject: Subject = field.isDocumentID ? .path : .field(CompiledFieldPath(field))
            self = .compare(subject, Self.test(comparison, value))
        }
    }

    private static func test(
        _ comparison: DocumentFilter.Comparison,
        _ value: DocumentValue
    ) -> Test {
        let values = comparison.takesList ? value.arrayValue ?? [] : [value]
        let findable = values.filter(\.isFindable)
        switch comparison {
        case .equal:
            return .isOne(of: [IndexKey.key(value)], encoded: [DocumentBody.encoded(value)])
        case .in:
            return .isOne(
                of: findable.map(IndexKey.key),
                encoded: findable.map(DocumentBody.encoded)
            )
        case .notEqual: return .isNone(of: value.isNull ? [] : [IndexKey.key(value)])
        case .notIn: return .isNone(of: values.filter { !$0.isNaN }.map(IndexKey.key))
        case .arrayContains, .arrayContainsAny: return .contains(findable.map(IndexKey.key))
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            // Nothing is less or greater than null or NaN.
            return value.isFindable
                ? .relates(comparison, IndexKey.key(value)) : .isOne(of: [], encoded: [])
        }
    }

    package func matches(_ document: Document) -> Bool {
        switch self {
        case .and(let filters): filters.allSatisfy { $0.matches(document) }
        case .or(let filters): filters.contains { $0.matches(document) }
        case .compare(let subject, let test): Self.holds(test, for: subject, of: document)
        }
    }

    private static func holds(_ test: Test, for subject: Subject, of document: Document) -> Bool {
        var key: [UInt8] = []
        switch subject {
        case .path: IndexKey.append(path: document.path, to: &key)
        case .field(let field):
            if case .contains(let wanted) = test {
                return document.body.containsElement(withKeyIn: wanted, at: field)
            }
            if case .isOne(_, let encoded) = test, document.body.holds(encoded, at: field) {
                return true
            }
            guard document.body.appendKey(of: field, to: &key) else { return false }
        }
        switch test {
        case .isOne(let keys, _): return keys.contains(key)
        case .isNone(let keys):
            return key != IndexKey.null && !keys.contains(IndexKey.null) && !keys.contains(key)
        case .contains: return false
        case .relates(let comparison, let constant):
            guard IndexKey.areOfOneKind(key, constant) else { return false }
            switch comparison {
            case .less: return key.lexicographicallyPrecedes(constant)
            case .lessOrEqual: return !constant.lexicographicallyPrecedes(key)
            case .greater: return constant.lexicographicallyPrecedes(key)
            default: return !key.lexicographicallyPrecedes(constant)
            }
        }
    }
}
