#if PostgreSQL
public import KeelStorageAdapting

extension PostgreSQLStorageAdapter {
    /// An index of the store.
    public struct IndexStatus: Sendable, Hashable {
        /// The definition: one index, or one search.
        public let schema: StorageSchema
        /// The name of the index in query plans.
        public let name: String
        /// The share of the documents that has been indexed, from 0 to 1.
        ///
        /// At 1, queries use the index; before that, they scan. An index stays below 1 while a document that it
        /// covers cannot be read.
        public let progress: Double
    }

    /// Declares the indexes and searches of a schema, and starts building those that the store lacks.
    ///
    /// Stores of up to 10,000 documents are ready when the call returns. In larger ones, the rest is built while the
    /// adapter is used, five hundred documents at a time, between commits. Until then queries scan, including strict
    /// ones, and searches wait. ``indexes()`` returns the progress, and ``finishIndexes()`` waits. The next call, on
    /// any machine, continues a build that was interrupted or failed.
    ///
    /// - Throws: `StorageError/Code/unsupported` for searches in an encrypted store that does not allow them.
    public func prepare(_ schema: StorageSchema) async throws(StorageError) {
        do throws(StorageError) {
            guard schema.searches.isEmpty || allowsTextSearch else {
                throw StorageError(
                    .unsupported,
                    "text search would write unencrypted words into an encrypted store; set "
                        + "allowsPlaintextSearch if that is acceptable"
                )
            }
            let open = try await unfinished(of: schema.kinds)
            guard !open.isEmpty else { return }
            try await maintaining { snapshot, _ in try IndexBuild.declare(open, in: snapshot) }
            var build = IndexBuild()
            for _ in 0..<Self.stepsAtOnce {
                guard try await advance(&build) else { return }
            }
            building.begin(for: self)
        } catch {
            throw error.during("prepare")
        }
    }

    /// Returns all indexes of the store, by any declaring program, in the order of their declaration.
    public func indexes() async throws(StorageError) -> [IndexStatus] {
        do throws(StorageError) {
            return try await reading { snapshot, tail in
                let count = Double(max(tail.documents, 1))
                return try snapshot.storedIndexes().map { index in
                    IndexStatus(
                        schema: index.kind.schema,
                        name: index.kind.name,
                        progress: index.built.map { min(Double($0) / count, 0.999) } ?? 1
                    )
                }
            }
        } catch {
            throw error.during("indexes")
        }
    }

    /// Builds the rest of the declared indexes, and returns when queries can use them.
    ///
    /// An index that covers an unreadable document is left incomplete.
    public func finishIndexes() async throws(StorageError) {
        do throws(StorageError) {
            var build = IndexBuild()
            while try await advance(&build) {}
        } catch {
            throw error.during("finishIndexes")
        }
    }

    /// Removes the indexes and searches of a schema from the store; missing ones are ignored.
    ///
    /// Queries and writers stop using them at once. Their entries are removed ten thousand at a time, so that commits
    /// can proceed; if the process ends first, the next ``prepare(_:)`` or ``finishIndexes()`` removes the rest.
    public func dropIndexes(in schema: StorageSchema) async throws(StorageError) {
        do throws(StorageError) {
            try await maintaining { snapshot, _ in try IndexBuild.drop(schema.kinds, in: snapshot) }
            while try await maintaining({ snapshot, _ in try IndexBuild.removeDropped(in: snapshot)
            }) {}
        } catch {
            throw error.during("dropIndexes")
        }
    }

    /// The number of steps that a call of ``prepare(_:)`` runs itself.
    private static var stepsAtOnce: Int { 20 }

    /// Indexes the next documents.
    ///
    /// - Returns: Whether there is more to do.
    func advance(_ build: inout IndexBuild) async throws(StorageError) -> Bool {
        let start = build
        let (next, isMore) = try await maintaining { snapshot, _ in
            var next = start
            let isMore = try next.step(in: snapshot)
            return (next, isMore)
        }
        build = next
        return isMore
    }

    private func unfinished(
        of wanted: [StoredIndex.Kind]
    ) async throws(StorageError) -> [StoredIndex.Kind] {
        guard !wanted.isEmpty else { return [] }
        let ready = try await reading { snapshot, tail in
            Set(try snapshot.indexes(tail).all.filter { $0.built == nil }.map(\.definition))
        }
        return wanted.filter { !ready.contains($0.encoded) }
    }

    /// Waits until the store's searches are complete, if the request is a search.
    func finishSearches(for request: ReadRequest) async throws(StorageError) {
        guard request.searches else { return }
        let isOpen = try await reading { snapshot, tail in
            try snapshot.indexes(tail).all.contains {
                if case .search = $0.kind { $0.built != nil } else { false }
            }
        }
        if isOpen { try await finishIndexes() }
    }

    /// Whether words may be written to the database unencrypted.
    var allowsTextSearch: Bool {
        configuration.sealing == nil || configuration.allowsPlaintextSearch
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
    /// The definitions, with the searches last.
    fileprivate var kinds: [StoredIndex.Kind] {
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
