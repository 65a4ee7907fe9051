import KeelStorage

/// A write whose condition is resolved to an adapter's own revisions and times when it runs.
struct FuzzWrite: CustomStringConvertible {
    enum Condition {
        case plain(WriteCondition)
        /// The current revision of the document in the adapter, or one that it never had.
        case revision(isCurrent: Bool)
        /// The current update time of the document in the adapter, or one that it never had.
        case updateTime(isCurrent: Bool)
    }

    var path: DocumentPath
    var operation: DocumentWrite.Operation
    var condition: Condition

    var description: String { "\(path) \(operation) if \(condition)" }
}

struct FuzzBatch: CustomStringConvertible {
    var id: String?
    var writes: [FuzzWrite]
    /// The documents that are read first; those not current get a revision that they never had.
    var documents: [(path: DocumentPath, isCurrent: Bool)] = []
    /// A query that is run first, and whether the batch gets its true result.
    var query: (query: DocumentQuery, isCurrent: Bool)?

    var setsServerTime: Bool {
        writes.contains { write in
            switch write.operation {
            case .set(_, let transforms):
                transforms.contains { $0.operation == .serverTimestamp }
            case .update(let changes):
                changes.contains { $0.action == .transform(.serverTimestamp) }
            case .delete, .verify, .replicate: false
            }
        }
    }

    var description: String {
        "batch \(id ?? "-") reads \(documents) \(query.map { "\($0)" } ?? "-") writes \(writes)"
    }
}

extension FuzzBatch {
    /// Removes conditions on documents that the batch has deleted before: clients and servers refuse such batches,
    /// but adapters need not.
    fileprivate mutating func asksForNothingDeleted() {
        var deleted: Set<DocumentPath> = []
        for (index, write) in writes.enumerated() {
            switch (write.operation, write.condition) {
            case (.delete, .plain(.none)): deleted.insert(write.path)
            case (.verify, _): continue
            case (_, .plain(.exists)) where deleted.contains(write.path):
                writes[index].condition = .plain(.none)
            default: deleted.remove(write.path)
            }
        }
    }
}

extension FuzzSource {
    mutating func batch(repeating ids: inout [String]) -> FuzzBatch {
        var batch = FuzzBatch(writes: (0..<random.number(1...8)).map { _ in write() })
        batch.omit(omissions)
        batch.asksForNothingDeleted()
        if random.hits(1, in: 10) {
            if !ids.isEmpty, random.hits(1, in: 2) {
                batch.id = random.pick(ids)
            } else {
                let id = "\(name)-\(ids.count)"
                ids.append(id)
                batch.id = id
            }
        }
        if random.hits(1, in: 12) { batch.documents = [(path(), random.hits(2, in: 3))] }
        if random.hits(1, in: 20), let query = query(),
            !(omits(.treesInTransactions) && query.scope.isEverything)
        {
            batch.query = (query, random.hits(2, in: 3))
        }
        return batch
    }

    mutating func write() -> FuzzWrite {
        FuzzWrite(path: path(), operation: operation(), condition: condition())
    }

    private mutating func condition() -> FuzzWrite.Condition {
        switch random.number(0...29) {
        case 0...1: .plain(.exists)
        case 2: .plain(.isMissing)
        case 3: .revision(isCurrent: random.hits(2, in: 3))
        case 4: .updateTime(isCurrent: random.hits(2, in: 3))
        default: .plain(.none)
        }
    }

    private mutating func operation() -> DocumentWrite.Operation {
        switch random.number(0...11) {
        case 0...4: return .set(DocumentBody(fields()))
        case 5:
            let transforms = changes().compactMap { change -> FieldTransform? in
                guard case .transform(let operation) = change.action else { return nil }
                return FieldTransform(change.field, operation)
            }
            return .set(DocumentBody(fields()), transforms: transforms)
        case 6...9: return .update(changes())
        case 10: return random.hits(4, in: 5) ? .delete : .verify
        default: return .delete
        }
    }

    private mutating func changes() -> [FieldChange] {
        var changes: [FieldChange] = []
        for _ in 0..<random.number(1...4) {
            let field = field()
            let clashes = changes.contains {
                $0.field.contains(field) || field.contains($0.field)
            }
            if !clashes { changes.append(FieldChange(field, action())) }
        }
        return changes
    }

    private mutating func action() -> FieldChange.Action {
        switch random.number(0...9) {
        case 0...3: .set(value())
        case 4: .remove
        default: .transform(transform())
        }
    }

    private mutating func transform() -> FieldTransform.Operation {
        switch random.number(0...6) {
        case 0...1: .increment(number())
        case 2: .maximum(number())
        case 3: .minimum(number())
        case 4: .arrayUnion((0..<random.number(0...3)).map { _ in element(depth: 1) })
        case 5: .arrayRemove((0..<random.number(0...3)).map { _ in element(depth: 1) })
        default: .serverTimestamp
        }
    }
}
