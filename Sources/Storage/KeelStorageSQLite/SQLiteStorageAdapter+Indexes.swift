#if SQLite
internal import GRDB
public import KeelStorageAdapting

extension SQLiteStorageAdapter {
    /// An index of the file.
    public typealias IndexStatus = KeelStorageAdapting.IndexStatus

    /// Declares the indexes and searches of a schema, and starts building those that the file lacks.
    ///
    /// The indexes of up to about 10,000 documents and 40 MiB are ready when the call returns. The rest is built while
    /// the adapter is used, a thousand documents at a time. Until then queries scan, including strict ones, and
    /// searches that need them wait. ``indexes()`` returns the progress, and ``finishIndexes()`` waits. The next call,
    /// in any process, continues a build that was interrupted or failed. In a read-only store, the call builds nothing.
    ///
    /// - Throws: `StorageError/Code/unsupported` for searches in an encrypted store that does not allow them, and
    ///   errors of the file.
    public func prepare(_ schema: StorageSchema) async throws(StorageError) {
        do throws(StorageError) {
            try schema.checkSearches(areAllowed: allowsTextSearch)
            let open = try await unfinished(of: schema.kinds)
            // A read-only store scans what its indexes do not cover.
            guard !open.isEmpty, !configuration.isReadOnly else { return }
            try await declare(open)
            var build = IndexBuild()
            for _ in 0..<Self.stepsAtOnce {
                guard try await advance(&build) else { return }
            }
            building.begin { [weak self] in
                var build = IndexBuild()
                // The next preparation repeats a failed step and throws its error.
                while !Task.isCancelled, let self, (try? await advance(&build)) == true {}
            }
        } catch {
            throw error.during("prepare")
        }
    }

    /// Returns all indexes of the file, also of other programs, in the order of their declaration.
    public func indexes() async throws(StorageError) -> [IndexStatus] {
        do throws(StorageError) {
            return try await reading {
                try readSnapshot { reader in
                    let last = try Int64.fetchOne(
                        reader.database,
                        sql: "SELECT max(rid) FROM documents"
                    )
                    return try reader.storedIndexes().map { IndexStatus($0, last: last ?? 0) }
                }
            }
        } catch {
            throw error.during("indexes")
        }
    }

    /// Builds the rest of the declared indexes, and returns when queries can use them.
    ///
    /// - Throws: Errors of the file, and `StorageError/Code/readOnly`. An index that covers an unreadable document is
    ///   left incomplete.
    public func finishIndexes() async throws(StorageError) {
        do throws(StorageError) {
            var build = IndexBuild()
            while try await advance(&build) {}
        } catch {
            throw error.during("finishIndexes")
        }
    }

    /// Removes the indexes and searches of a schema from the file; missing ones are ignored.
    ///
    /// Queries and writers stop using them at once. The entries of indexes are removed two thousand at a time; if the
    /// process ends first, the next ``prepare(_:)`` that builds, or ``finishIndexes()``, removes the rest. A search is
    /// removed in one transaction, for which other writers wait: about ten seconds for each GB of its words. A program
    /// that declares them again rebuilds them.
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

    /// The number of steps that a call of ``prepare(_:)`` runs itself: after 10,000 documents, one finds the end.
    static var stepsAtOnce: Int { 11 }

    func advance(_ build: inout IndexBuild) async throws(StorageError) -> Bool {
        let start = build
        let (next, isMore) = try await maintaining { [self] database in
            // An attempt that found the file locked has been rolled back.
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
        return try await reading {
            try readSnapshot { try $0.indexes(StoreState($0.database).generation) }
        }.unfinished(of: wanted)
    }

    private func declare(_ kinds: [StoredIndex.Kind]) async throws(StorageError) {
        // An index that has been dropped but not removed has unmaintained entries.
        while try await removeDroppedEntries() {}
        try await maintaining { database in
            for kind in kinds { try IndexBuild.declare(kind, in: database) }
            try StoreState.advanceGeneration(in: database)
        }
    }

    func finishSearches(for request: ReadRequest) async throws(StorageError) {
        guard request.searches, !configuration.isReadOnly else { return }
        let isOpen = try await reading {
            try readSnapshot { try $0.indexes(StoreState($0.database).generation) }
        }.mustBeFinished(for: request)
        if isOpen { try await finishIndexes() }
    }
}
#endif
