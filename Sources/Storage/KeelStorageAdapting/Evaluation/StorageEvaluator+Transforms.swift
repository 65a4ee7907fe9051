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
        for change in changes {
            switch change.action {
            case .set(let value): fields[change.field] = value
            case .remove: fields[change.field] = nil
            case .transform(let operation):
                let (value, result) = Self.value(
                    of: operation,
                    over: fields[change.field],
                    at: commit
                )
                fields[change.field] = value
                results.append(result)
            }
        }
        return results
    }

    package static func value(
        of operation: FieldTransform.Operation,
        over stored: DocumentValue?,
        at commit: Commit
    ) -> (value: DocumentValue, result: DocumentValue) {
        switch operation {
        case .serverTimestamp:
            // Firestore truncates this time to milliseconds.
            let microseconds = commit.time.microseconds
            let rest = (microseconds % 1_000 + 1_000) % 1_000
            let value = DocumentValue.timestamp(Timestamp(microseconds: microseconds - rest))
            return (value, value)
        case .commitTime:
            // Not truncated: after the clock was set back, hundreds of commits are within a millisecond.
            let value = DocumentValue.timestamp(commit.storeTime)
            return (value, value)
        case .increment(let operand):
            let value = sum(stored, operand)
            return (value, value)
        case .maximum(let operand):
            let value = extreme(stored, operand) { operand.comesAfter($0) }
            return (value, value)
        case .minimum(let operand):
            let value = extreme(stored, operand) { operand.precedes($0) }
            return (value, value)
        case .arrayUnion(let additions):
            var elements = stored?.arrayValue ?? []
            var known = Set(elements.map(IndexKey.key))
            for addition in additions where known.insert(IndexKey.key(addition)).inserted {
                elements.append(addition)
            }
            return (.array(elements), .null)
        case .arrayRemove(let removals):
            let removed = Set(removals.map(IndexKey.key))
            let elements = (stored?.arrayValue ?? []).filter { !removed.contains(IndexKey.key($0)) }
            return (.array(elements), .null)
        }
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
