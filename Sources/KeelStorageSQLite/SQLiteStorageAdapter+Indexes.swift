#if SQLite
internal import GRDB
public import KeelStorageAdapting

extension SQLiteStorageAdapter {
    /// An index that the file has.
    public struct IndexStatus: Sendable, Hashable {
        /// The definition: one index, or one search.
        public let schema: StorageSchema
        /// The name that query plans give it.
        public let name: String
        /// The part of the documents that has been looked at, from 0 to 1.
        ///
        /// At 1 queries use the index; before, they scan. An index stays below 1 while a document that it
        /// covers cannot be read.
        public let progress: Double
    }

    /// Declares the indexes and searches of a schema, and begins to build those that the file lacks.
    ///
    /// Stores of up to 10,000 documents are ready when the call returns. In larger ones the rest is built
    /// while the adapter is used, a thousand documents at a time, all indexes in one pass; queries scan
    /// until their index is complete, also strict ones, and searches wait. ``indexes()`` tells how far it
    /// has come, and ``finishIndexes()`` waits. A build that was interrupted, or failed, goes on with the
    /// next call, in any process.
    ///
    /// - Throws: `StorageError/Code/unsupported` for searches in an encrypted store that does not
    ///   allow them, and what failed in the file.
    public func prepare(_ schema: StorageSchema) async throws(StorageError) {
        do throws(StorageError) {
            guard schema.searches.isEmpty || allowsTextSearch else {
                throw StorageError(
                    .unsupported,
                    "text search would write words in the clear into an encrypted store; set "
                        + "allowsSearchableText if that is acceptable"
                )
            }
            let open = try await unfinished(of: schema.kinds)
            // A store that is only read answers by scans what its indexes do not cover.
            guard !open.isEmpty, !configuration.isReadOnly else { return }
            try await declare(open)
            var build = IndexBuild()
            for _ in 0..<Self.stepsAtOnce {
                guard try await advance(&build) else { return }
            }
            building.begin(for: self)
        } catch {
            throw error.during("prepare")
        }
    }

    /// The indexes of the file, whoever declared them, in the order of their declaration.
    public func indexes() async throws(StorageError) -> [IndexStatus] {
        do throws(StorageError) {
            return try await whileBusy {
                try readSnapshot { reader in
                    let last = try Int64.fetchOne(
                        reader.database,
                        sql: "SELECT max(rid) FROM documents"
                    )
                    let count = Double(max(last ?? 0, 1))
                    return try reader.storedIndexes().map { index in
                        IndexStatus(
                            schema: index.kind.schema,
                            name: index.kind.name,
                            progress: index.built.map { min(Double($0) / count, 0.999) } ?? 1
                        )
                    }
                }
            }
        } catch {
            throw error.during("indexes")
        }
    }

    /// Builds what is left of the declared indexes, and returns when queries can use them.
    ///
    /// - Throws: What failed in the file. An index that covers a document which cannot be read is left
    ///   as it is.
    public func finishIndexes() async throws(StorageError) {
        do throws(StorageError) {
            var build = IndexBuild()
            while try await advance(&build) {}
        } catch {
            throw error.during("finishIndexes")
        }
    }

    /// Removes the indexes and searches of a schema from the file; what it does not have is no error.
    ///
    /// Queries and writers leave them aside at once. Their entries go ten thousand at a time, so that
    /// other writers get their turn; if the process ends meanwhile, the next ``prepare(_:)`` or
    /// ``finishIndexes()`` removes the rest. A program that declares them again builds them anew.
    ///
    /// ```swift
    /// // Keeps only what this release declares.
    /// for index in try await adapter.indexes() where !declared.contains(index.schema) {
    ///     try await adapter.dropIndexes(in: index.schema)
    /// }
    /// ```
    public func dropIndexes(in schema: StorageSchema) async throws(StorageError) {
        do throws(StorageError) {
            try await maintaining { database in
                for kind in schema.kinds {
                    try IndexBuild.drop(kind, in: database)
                }
                try StoreState.advanceGeneration(in: database)
            }
            while try await removeDroppedEntries() {}
        } catch {
            throw error.during("dropIndexes")
        }
    }

    // MARK: Steps

    /// How many steps a call of ``prepare(_:)`` does itself.
    static var stepsAtOnce: Int { 10 }

    /// Looks at the next documents of an unfinished index.
    ///
    /// - Returns: Whether there is more to do.
    func advance(_ build: inout IndexBuild) async throws(StorageError) -> Bool {
        let start = build
        let (next, isMore) = try await maintaining { [self] database in
            // An attempt that found the file locked has undone what it did.
            var next = start
            let isMore = try next.step(in: database, for: self)
            return (next, isMore)
        }
        build = next
        return isMore
    }

    private func removeDroppedEntries() async throws(StorageError) -> Bool {
        try await maintaining { try IndexBuild.removeDropped(in: $0) }
    }

    private func unfinished(
        of wanted: [StoredIndex.Kind]
    ) async throws(StorageError) -> [StoredIndex.Kind] {
        guard !wanted.isEmpty else { return [] }
        let indexes = try await whileBusy {
            try readSnapshot { try $0.indexes(StoreState($0.database).generation) }
        }
        let ready = Set(indexes.all.filter { $0.built == nil }.map(\.definition))
        return wanted.filter { !ready.contains($0.encoded) }
    }

    /// Writes definitions into the file; from then on every writer maintains them.
    private func declare(_ kinds: [StoredIndex.Kind]) async throws(StorageError) {
        // One that was dropped, and is not gone yet, has entries that nobody has maintained.
        while try await removeDroppedEntries() {}
        try await maintaining { database in
            for kind in kinds { try IndexBuild.declare(kind, in: database) }
            try StoreState.advanceGeneration(in: database)
        }
    }

    /// Waits until a query can look for words.
    func finishSearches(for request: ReadRequest) async throws(StorageError) {
        guard request.searches, !configuration.isReadOnly else { return }
        let isOpen = try await whileBusy {
            try readSnapshot { reader in
                try reader.indexes(StoreState(reader.database).generation).all.contains {
                    if case .search = $0.kind { $0.built != nil } else { false }
                }
            }
        }
        if isOpen { try await finishIndexes() }
    }
}

extension ReadRequest {
    fileprivate var searches: Bool {
        switch operation {
        case .query(let query), .aggregate(let query, _): query.search != nil
        case .documents, .collections: false
        }
    }
}

extension StorageSchema {
    /// Its definitions, the searches last.
    var kinds: [StoredIndex.Kind] {
        indexes.map(StoredIndex.Kind.fields) + searches.map(StoredIndex.Kind.search)
    }
}

extension StoredIndex.Kind {
    fileprivate var schema: StorageSchema {
        switch self {
        case .fields(let index): StorageSchema(indexes: [index])
        case .search(let search): StorageSchema(searches: [search])
        }
    }
}
#endif
