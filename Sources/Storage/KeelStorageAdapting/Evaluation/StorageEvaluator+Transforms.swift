package import KeelDocuments

extension StorageEvaluator {
    /// Returns the results of the transforms.
    package static func apply(
        _ changes: [FieldChange],
        to fields: inout DocumentFields,
        at commit: Commit
    ) -> [DocumentValue] {
        var results: [DocumentValue] = []
        var changes = changes[...]
        // Only transforms build on each other, and they come last.
        if changes.count > 100 {
            var many: [(path: FieldPath, value: DocumentValue?)] = []
            loop: for change in changes {
                switch change.action {
                case .set(let value): many.append((path: change.field, value: value))
                case .remove: many.append((path: change.field, value: .none))
                case .transform: break loop
                }
            }
            fields.apply(many)
            changes = changes.dropFirst(many.count)
        }
        var arrays: [FieldPath: TransformedArray] = [:]
        for change in changes {
            switch change.action {
            case .set(let value): fields[change.field] = value
            case .remove: fields[change.field] = nil
            case .transform(let operation):
                results.append(
                    Self.apply(operation, to: change.field, of: &fields, &arrays, at: commit)
                )
            }
        }
        var values: [(path: FieldPath, value: DocumentValue?)] = []
        for (field, array) in arrays { values.append((path: field, value: array.value)) }
        fields.apply(values)
        return results
    }

    /// Applies a transform and returns its result; changed arrays stay in `arrays`.
    private static func apply(
        _ operation: FieldTransform.Operation,
        to field: FieldPath,
        of fields: inout DocumentFields,
        _ arrays: inout [FieldPath: TransformedArray],
        at commit: Commit
    ) -> DocumentValue {
        // To the other transforms, an array is only something other than a number.
        let stored: DocumentValue? = arrays.keys.contains(field) ? .array([]) : fields[field]
        let value: DocumentValue
        switch operation {
        case .arrayUnion(let additions):
            arrays[field, default: TransformedArray(fields[field])].add(additions)
            return .null
        case .arrayRemove(let removals):
            arrays[field, default: TransformedArray(fields[field])].remove(removals)
            return .null
        case .serverTimestamp:
            // Firestore truncates this time to milliseconds.
            let microseconds = commit.time.microseconds
            let rest = (microseconds % 1_000 + 1_000) % 1_000
            value = .timestamp(Timestamp(microseconds: microseconds - rest))
        case .commitTime:
            // Not truncated: after the clock was set back, hundreds of commits are within a millisecond.
            value = .timestamp(commit.storeTime)
        case .increment(let operand):
            value = sum(stored, operand)
        case .maximum(let operand):
            value = extreme(stored, operand) { operand.comesAfter($0) }
        case .minimum(let operand):
            value = extreme(stored, operand) { operand.precedes($0) }
        }
        arrays.removeValue(forKey: field)
        fields[field] = value
        return value
    }

    /// Returns the stored number or the operand; NaN on either side gives NaN.
    private static func extreme(
        _ stored: DocumentValue?,
        _ operand: DocumentValue,
        isReplacedBy replaces: (DocumentValue) -> Bool
    ) -> DocumentValue {
        guard let stored, stored.isNumber else { return operand }
        if stored.isNaN || operand.isNaN { return .double(.nan) }
        return replaces(stored) ? operand : stored
    }

    private static func sum(_ stored: DocumentValue?, _ operand: DocumentValue) -> DocumentValue {
        guard let stored, stored.isNumber else { return operand }
        if case .integer(let one) = stored, case .integer(let other) = operand {
            let (sum, overflow) = one.addingReportingOverflow(other)
            return .integer(overflow ? (other < 0 ? .min : .max) : sum)
        }
        let sum = (stored.doubleValue ?? 0) + (operand.doubleValue ?? 0)
        // The difference of infinities may be a signed NaN, whose sign no store keeps.
        return .double(sum.isNaN ? .nan : sum)
    }
}

/// An array under the transforms of a write, which compare each of its elements only once.
private struct TransformedArray {
    private var elements: [DocumentValue] = []
    private var positions: [[UInt8]: [Int]] = [:]
    private var removed: Set<Int> = []

    init(_ stored: DocumentValue?) {
        for element in stored?.arrayValue ?? [] { append(element, IndexKey.key(element)) }
    }

    var value: DocumentValue {
        guard !removed.isEmpty else { return .array(elements) }
        return .array(elements.indices.filter { !removed.contains($0) }.map { elements[$0] })
    }

    mutating func add(_ additions: [DocumentValue]) {
        for addition in additions {
            let key = IndexKey.key(addition)
            if positions[key] == nil { append(addition, key) }
        }
    }

    mutating func remove(_ removals: [DocumentValue]) {
        for removal in removals {
            removed.formUnion(positions.removeValue(forKey: IndexKey.key(removal)) ?? [])
        }
    }

    private mutating func append(_ element: DocumentValue, _ key: [UInt8]) {
        positions[key, default: []].append(elements.count)
        elements.append(element)
    }
}
