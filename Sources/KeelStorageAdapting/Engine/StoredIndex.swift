internal import KeelCore
package import KeelDocuments

/// An index that a store keeps, ready to compute its entries.
package struct StoredIndex: Sendable {
    package enum Kind: Sendable {
        case fields(IndexDefinition)
        case search(SearchDefinition)
    }

    /// The index's number in the store.
    package let number: Int64
    package let kind: Kind
    /// The definition as the store keeps it; also what ties fingerprints to this index.
    package let definition: [UInt8]
    /// The row up to which the index has been built, nil when it is complete.
    package let built: Int64?

    package let paths: [CompiledFieldPath]

    package init(number: Int64, definition: [UInt8], built: Int64?) throws(StorageError) {
        self.number = number
        self.definition = definition
        let (kind, keys) = try Kind.decoded(definition)
        self.kind = kind
        // Of entries in a form of an earlier version nothing is found.
        self.built = keys == Kind.currentKeys ? built : 0
        switch kind {
        case .fields(let index): paths = index.components.map { CompiledFieldPath($0.field) }
        case .search(let search): paths = search.fields.map(CompiledFieldPath.init)
        }
    }

    /// The name of the collections that the index covers.
    package var collection: String {
        switch kind {
        case .fields(let index): index.collection
        case .search(let search): search.collection
        }
    }

    /// The collection number that the index's entries carry for a document's collection.
    package func entryCollection(_ collection: Int64) -> Int64 {
        if case .fields(let index) = kind, index.scope == .group { return 0 }
        return collection
    }

    /// The joined keys of the components, one for each entry; empty if a field is missing.
    package func keys(of body: DocumentBody) -> [[UInt8]] {
        guard case .fields(let index) = kind else { return [] }
        return index.componentKeys(of: body, at: paths)
    }

    /// The words of the searchable fields, one text a field.
    package func texts(of body: DocumentBody) -> [String] {
        paths.map { path in
            (body.value(at: path).map(TextWords.words) ?? []).joined(separator: " ")
        }
    }
}

/// The indexes of a store in one generation.
package struct IndexSet: Sendable {
    package let generation: Int64
    package let all: [StoredIndex]
    /// The finished ones, for queries.
    package let planner: QueryPlanner
    /// Those that are being built too.
    package var declared: QueryPlanner { Self.planner(all) }
    package let searches: [SearchDefinition]
    /// How far back the store keeps what documents were; nil if it does not.
    ///
    /// Every writer has to know, so that it changes with the generation as the indexes do.
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

    /// Those that cover the collections of a name.
    package func covering(_ name: String) -> [StoredIndex] {
        all.filter { StoredName.same($0.collection, name) }
    }

    package func stored(_ definition: IndexDefinition) -> StoredIndex? {
        all.first { if case .fields(definition) = $0.kind { true } else { false } }
    }

    package func stored(_ definition: SearchDefinition) -> StoredIndex? {
        all.first { if case .search(definition) = $0.kind { true } else { false } }
    }
}
