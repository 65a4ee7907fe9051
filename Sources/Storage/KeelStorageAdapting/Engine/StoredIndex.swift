internal import KeelCore
package import KeelDocuments

package struct StoredIndex: Sendable {
    package enum Kind: Sendable {
        case fields(IndexDefinition)
        case search(SearchDefinition)
    }

    package let number: Int64
    package let kind: Kind
    /// The stored definition, which is also the context of the index's fingerprints.
    package let definition: [UInt8]
    /// The row up to which the index is built; nil if the index is complete.
    package let built: Int64?

    package let paths: [CompiledFieldPath]

    package init(number: Int64, definition: [UInt8], built: Int64?) throws(StorageError) {
        self.number = number
        self.definition = definition
        let (kind, keys) = try Kind.decoded(definition)
        self.kind = kind
        // Entries in an earlier key format are not found, so such an index counts as not built.
        self.built = keys == Kind.currentKeys ? built : 0
        switch kind {
        case .fields(let index): paths = index.components.map { CompiledFieldPath($0.field) }
        case .search(let search): paths = search.fields.map(CompiledFieldPath.init)
        }
    }

    package var collection: String {
        switch kind {
        case .fields(let index): index.collection
        case .search(let search): search.collection
        }
    }

    package func entryCollection(_ collection: Int64) -> Int64 {
        if case .fields(let index) = kind, index.scope == .group { return 0 }
        return collection
    }

    /// Returns the concatenated component keys, one for each entry; empty if a field is missing.
    package func keys(of body: DocumentBody) -> [[UInt8]] {
        guard case .fields(let index) = kind else { return [] }
        return index.componentKeys(of: body, at: paths)
    }

    /// Returns whether a change of a body may change the index: false if no indexed field has another value.
    package func isAffected(from before: DocumentBody?, to after: DocumentBody?) -> Bool {
        guard let before, let after else { return true }
        return !paths.allSatisfy { before.hasSameValue(as: after, at: $0) }
    }

    package func keyChanges(
        from before: DocumentBody?,
        to after: DocumentBody?
    ) -> (removed: [[UInt8]], added: [[UInt8]]) {
        let old = before.map(keys) ?? []
        let new = after.map(keys) ?? []
        if old == new { return ([], []) }
        return (Self.keys(old, without: new), Self.keys(new, without: old))
    }

    private static func keys(_ keys: [[UInt8]], without others: [[UInt8]]) -> [[UInt8]] {
        // Most documents have one key, for which a set would cost more than the comparison.
        guard others.count > 8 else { return keys.filter { !others.contains($0) } }
        let others = Set(others)
        return keys.filter { !others.contains($0) }
    }

    package func entryKey(
        _ key: [UInt8],
        of path: DocumentPath,
        sealedBy sealing: BodySealing
    ) throws -> [UInt8] {
        guard case .fields(let index) = kind else { return key }
        var entry = index.isEqualityOnly ? try sealing.fingerprint(key, in: definition) : key
        entry.reserveCapacity(entry.count + path.id.utf8.count + 16)
        index.append(path, to: &entry)
        return entry
    }

    package func texts(of body: DocumentBody) -> [String] {
        paths.map { path in
            (body.value(at: path).map(TextWords.words) ?? []).joined(separator: " ")
        }
    }
}

package struct IndexSet: Sendable {
    package let generation: Int64
    package let all: [StoredIndex]
    package let planner: QueryPlanner
    /// Also with the indexes being built.
    package var declared: QueryPlanner { Self.planner(all) }
    package let searches: [SearchDefinition]
    /// The age of the store's history; nil without a history.
    ///
    /// It changes only with the generation.
    package let historyAge: Duration?

    package init(generation: Int64, all: [StoredIndex], historyAge: Duration? = nil) {
        self.historyAge = historyAge
        self.generation = generation
        self.all = all
        let ready = all.filter { $0.built == nil }
        planner = Self.planner(ready)
        searches = ready.compactMap {
            if case .search(let search) = $0.kind { search } else { nil }
        }
    }

    private static func planner(_ indexes: [StoredIndex]) -> QueryPlanner {
        QueryPlanner(
            indexes.compactMap { if case .fields(let index) = $0.kind { index } else { nil } }
        )
    }

    package func covering(_ name: String) -> [StoredIndex] {
        all.filter { StoredName.same($0.collection, name) }
    }

    /// Whether a request is a text search that no complete definition covers, while there are incomplete ones.
    package func mustBeFinished(for request: ReadRequest) -> Bool {
        guard let (search, scope) = request.search,
            all.contains(where: { if case .search = $0.kind { $0.built != nil } else { false } })
        else { return false }
        return (try? SearchFilter(search, in: scope, among: searches)) == nil
    }

    package func unfinished(of wanted: [StoredIndex.Kind]) -> [StoredIndex.Kind] {
        let ready = Set(all.filter { $0.built == nil }.map(\.definition))
        return wanted.filter { !ready.contains($0.encoded) }
    }

    package func stored(_ definition: IndexDefinition) -> StoredIndex? {
        all.first { if case .fields(definition) = $0.kind { true } else { false } }
    }

    package func stored(_ definition: SearchDefinition) -> StoredIndex? {
        all.first { if case .search(definition) = $0.kind { true } else { false } }
    }
}

extension KeyRange {
    package func replacingPrefix(
        of length: Int,
        by replacement: ([UInt8]) throws -> [UInt8]
    ) throws -> KeyRange {
        guard let bytes = (lower ?? upper)?.bytes, bytes.count >= length else { return self }
        let prefix = try replacement(Array(bytes.prefix(length)))
        func replaced(_ cut: Cut?) -> Cut? {
            cut.map { cut in
                let bytes = prefix + cut.bytes.dropFirst(length)
                return cut.isAfter ? .after(bytes) : .before(bytes)
            }
        }
        return KeyRange(from: replaced(lower), to: replaced(upper))
    }
}

extension StorageSchema {
    /// The definitions, with the searches last.
    package var kinds: [StoredIndex.Kind] {
        indexes.map(StoredIndex.Kind.fields) + searches.map(StoredIndex.Kind.search)
    }

    /// Refuses searches in an encrypted store that does not allow them.
    ///
    /// - Throws: `StorageError/Code/unsupported`.
    package func checkSearches(areAllowed: Bool) throws(StorageError) {
        guard searches.isEmpty || areAllowed else {
            throw StorageError(
                .unsupported,
                "text search would write unencrypted words into an encrypted store; set "
                    + "allowsPlaintextSearch if that is acceptable"
            )
        }
    }
}

extension ReadRequest {
    /// Whether the request is a text search.
    package var searches: Bool { search != nil }

    fileprivate var search: (TextSearch, DocumentQuery.Scope)? {
        switch operation {
        case .query(let query), .aggregate(let query, _): query.search.map { ($0, query.scope) }
        case .documents, .collections: nil
        }
    }
}
