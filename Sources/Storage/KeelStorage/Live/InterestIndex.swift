package import KeelDocuments
package import KeelStorageAdapting

/// An index from documents to the keys of the scopes that cover them.
///
/// Conditions of queries are ignored.
package struct InterestIndex<Key: Hashable & Sendable>: Sendable {
    private var everything: Set<Key> = []
    private var byDocument: [DocumentPath: Set<Key>] = [:]
    private var byCollection: [CollectionPath: Set<Key>] = [:]
    private var byGroup: [[UInt8]: Set<Key>] = [:]

    package init() {}

    package mutating func insert(_ key: Key, for scope: ChangeScope) {
        change(scope) { $0.insert(key) }
    }

    package mutating func remove(_ key: Key, for scope: ChangeScope) {
        change(scope) { $0.remove(key) }
    }

    private mutating func change(_ scope: ChangeScope, _ body: (inout Set<Key>) -> Void) {
        if scope.isEverything { body(&everything) }
        for path in scope.documents { byDocument.change(path, body) }
        for path in scope.collections { byCollection.change(path, body) }
        for name in scope.groups { byGroup.change(Array(name.utf8), body) }
        for selection in scope.selections {
            switch selection.scope {
            case .collection(let path): byCollection.change(path, body)
            case .group(let name, _): byGroup.change(Array(name.utf8), body)
            case .everything: body(&everything)
            }
        }
    }

    /// Returns the keys of all scopes that may contain a document.
    package func keys(for path: DocumentPath) -> Set<Key> {
        var keys = byDocument[path] ?? []
        let group = byGroup.isEmpty ? nil : byGroup[Array(path.collection.name.utf8)]
        for more in [everything, byCollection[path.collection] ?? [], group ?? []] {
            if keys.isEmpty { keys = more } else { keys.formUnion(more) }
        }
        return keys
    }
}

extension Dictionary {
    package mutating func change<Member>(
        _ key: Key,
        _ body: (inout Value) -> Void
    ) where Value == Set<Member> {
        body(&self[key, default: []])
        if self[key]?.isEmpty == true { self[key] = nil }
    }
}
