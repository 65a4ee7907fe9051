#if SQLite
internal import KeelCore
internal import KeelStorage

/// An index of the file, ready to compute its entries.
struct StoredIndex: Sendable {
    enum Kind: Sendable {
        case fields(IndexDefinition)
        case search(SearchDefinition)
    }

    /// The index's number in the file.
    let number: Int64
    let kind: Kind
    /// The definition as the file keeps it; also what ties fingerprints to this index.
    let definition: [UInt8]
    /// The row up to which the index has been built, nil when it is complete.
    let built: Int64?

    let paths: [CompiledFieldPath]

    init(number: Int64, definition: [UInt8], built: Int64?) throws(StorageError) {
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
    var collection: String {
        switch kind {
        case .fields(let index): index.collection
        case .search(let search): search.collection
        }
    }

    /// The collection number that the index's entries carry for a document's collection.
    func entryCollection(_ collection: Int64) -> Int64 {
        if case .fields(let index) = kind, index.scope == .group { return 0 }
        return collection
    }

    /// The full-text table of a search definition.
    var searchTable: String { "search_\(number)" }

    /// The joined keys of the components, one for each entry; empty if a field is missing.
    func keys(of body: DocumentBody) -> [[UInt8]] {
        guard case .fields(let index) = kind else { return [] }
        return index.componentKeys(of: body, at: paths)
    }

    /// The words of the searchable fields, one text a field.
    func texts(of body: DocumentBody) -> [String] {
        paths.map { path in
            (body.value(at: path).map(TextWords.words) ?? []).joined(separator: " ")
        }
    }
}

/// The indexes of the file in one generation.
struct IndexSet: Sendable {
    let generation: Int64
    let all: [StoredIndex]
    /// The finished ones, for queries.
    let planner: QueryPlanner
    /// Those that are being built too.
    var declared: QueryPlanner { Self.planner(all) }
    let searches: [SearchDefinition]
    /// How far back the file keeps what documents were; nil if it does not.
    ///
    /// Every writer has to know, so that it changes with the generation as the indexes do.
    let historyAge: Duration?

    init(generation: Int64, all: [StoredIndex], historyAge: Duration? = nil) {
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
    func covering(_ name: String) -> [StoredIndex] {
        all.filter { StoredName.same($0.collection, name) }
    }

    func stored(_ definition: IndexDefinition) -> StoredIndex? {
        all.first { if case .fields(definition) = $0.kind { true } else { false } }
    }

    func stored(_ definition: SearchDefinition) -> StoredIndex? {
        all.first { if case .search(definition) = $0.kind { true } else { false } }
    }
}
#endif
