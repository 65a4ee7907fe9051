internal import KeelStorage
internal import KeelStorageAdapting

/// An index from changes to the targets that they can concern.
///
/// Of clients that listen to the documents with their own value of a field, a change concerns those with the new value,
/// and those whose result contained the document before. The cost of a lookup depends on the number of fields that
/// targets of the collection compare, and of targets that are found.
struct TargetIndex: Sendable {
    struct Key: Hashable, Sendable {
        let stream: UInt64
        let target: Int32
    }

    /// A condition that a field has a value, which all documents of a target fulfill.
    struct Equality: Hashable, Sendable {
        let collection: CollectionPath
        let field: FieldPath
        /// The order-preserving key of the value.
        let value: [UInt8]

        /// Returns the first such condition of a query of one collection; nil if it has none.
        init?(_ query: DocumentQuery) {
            guard case .collection(let collection) = query.scope, let filter = query.filter else {
                return nil
            }
            let parts = if case .and(let parts) = filter { parts } else { [filter] }
            for case .field(let field, .equal, let value) in parts where field != .documentID {
                self.collection = collection
                self.field = field
                self.value = IndexKey.key(value)
                return
            }
            return nil
        }
    }

    private var plain = InterestIndex<Key>()
    private var equal: [CollectionPath: [FieldPath: [[UInt8]: Set<Key>]]] = [:]
    private var equalities: [Key: Equality] = [:]
    private var holders: [DocumentPath: Set<Key>] = [:]
    private var held: [Key: Set<DocumentPath>] = [:]

    var documentCount: Int { holders.count }

    mutating func insert(_ key: Key, for scope: ChangeScope) { plain.insert(key, for: scope) }

    /// Adds a target by its condition, given documents that include its result.
    mutating func insert(_ key: Key, _ equality: Equality, documents: some Sequence<DocumentPath>) {
        equalities[key] = equality
        equal[equality.collection, default: [:]][equality.field, default: [:]]
            .change(equality.value) { $0.insert(key) }
        held[key] = Set(documents)
        for path in documents { holders.change(path) { $0.insert(key) } }
    }

    /// Removes a target, and forgets the documents that only it holds.
    mutating func remove(_ key: Key, for scope: ChangeScope) {
        guard let equality = equalities.removeValue(forKey: key) else {
            return plain.remove(key, for: scope)
        }
        for path in held.removeValue(forKey: key) ?? [] { holders.change(path) { $0.remove(key) } }
        equal[equality.collection]?[equality.field]?.change(equality.value) { $0.remove(key) }
        if equal[equality.collection]?[equality.field]?.isEmpty == true {
            equal[equality.collection]?[equality.field] = nil
        }
        if equal[equality.collection]?.isEmpty == true { equal[equality.collection] = nil }
    }

    /// Returns the targets that a change can concern, and records which of them now hold the document.
    mutating func targets(of change: ChangePage.Change) -> Set<Key> {
        let path = change.path
        var found = plain.keys(for: path)
        let former = holders[path] ?? []
        let matching = matches(change)
        guard !former.isEmpty || !matching.isEmpty else { return found }
        found.formUnion(matching)
        found.formUnion(former)
        for key in former.subtracting(matching) { held[key]?.remove(path) }
        for key in matching.subtracting(former) { held[key]?.insert(path) }
        holders[path] = matching.isEmpty ? nil : matching
        return found
    }

    private func matches(_ change: ChangePage.Change) -> Set<Key> {
        guard let fields = equal[change.path.collection] else { return [] }
        guard case .current(let document) = change, let content = try? document.fields() else {
            return []
        }
        var keys: Set<Key> = []
        for (field, values) in fields {
            guard let value = content[field], let more = values[IndexKey.key(value)] else {
                continue
            }
            if keys.isEmpty { keys = more } else { keys.formUnion(more) }
        }
        return keys
    }
}
