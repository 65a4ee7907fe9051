#if PostgreSQL
public import KeelStorageAdapting

extension PostgreSQLStorageAdapter {
    /// An index of the store.
    public typealias IndexStatus = KeelStorageAdapting.IndexStatus

    /// Declares the indexes and searches of a schema, and starts building those that the store lacks.
    ///
    /// The indexes of up to about 10,000 documents and 80 MiB are ready when the call returns. The rest is built while
    /// the adapter is used, at most five hundred documents at a time, between commits. Until then, queries scan,
    /// including strict ones, and a search that needs an incomplete index builds it first. ``indexes()`` returns the
    /// progress, and ``finishIndexes()`` completes the build. The next call with the schema, on any machine, continues
    /// a build that was interrupted or failed.
    ///
    /// - Throws: `StorageError/Code/unsupported` for searches in an encrypted store that does not allow them, and
    ///   errors of the database.
    public func prepare(_ schema: StorageSchema) async throws(StorageError) {
        do throws(StorageError) {
            try schema.checkSearches(areAllowed: allowsTextSearch)
            let open = try await unfinished(of: schema.kinds)
            guard !open.isEmpty else { return }
            try await maintaining { snapshot, _ in try IndexBuild.declare(open, in: snapshot) }
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

    /// Returns all indexes and searches of the store, including those of other programs, in the order of their
    /// declaration.
    public func indexes() async throws(StorageError) -> [IndexStatus] {
        do throws(StorageError) {
            return try await reading { snapshot, transaction in
                let tail = try transaction.tail()
                return try snapshot.storedIndexes().map { IndexStatus($0, last: tail.documents) }
            }
        } catch {
            throw error.during("indexes")
        }
    }

    /// Builds the rest of the declared indexes, and returns when queries can use them.
    ///
    /// An index of fields that covers an unreadable document stays incomplete; a search is completed without the
    /// document.
    ///
    /// - Throws: Errors of the database. The steps so far stay.
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
    /// Queries and writers stop using them at once. Their entries are removed two thousand at a time, between commits.
    /// If the call is interrupted, the next one removes the rest, as does ``finishIndexes()`` or a ``prepare(_:)`` that
    /// builds.
    public func dropIndexes(in schema: StorageSchema) async throws(StorageError) {
        do throws(StorageError) {
            try await maintaining { snapshot, _ in try IndexBuild.drop(schema.kinds, in: snapshot) }
            while try await maintaining({ snapshot, _ in try IndexBuild.removeDropped(in: snapshot)
            }) {}
        } catch {
            throw error.during("dropIndexes")
        }
    }

    /// The number of steps that ``prepare(_:)`` runs itself: after 10,000 documents, one finds the end.
    private static var stepsAtOnce: Int { 21 }

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
        return try await reading { try $0.indexes($1.tail()) }.unfinished(of: wanted)
    }

    /// Completes the store's indexes, if the request is a search that needs one of them.
    func finishSearches(for request: ReadRequest) async throws(StorageError) {
        guard request.searches else { return }
        let isOpen = try await reading { try $0.indexes($1.tail()) }.mustBeFinished(for: request)
        if isOpen { try await finishIndexes() }
    }

    /// Whether words may be written to the database unencrypted.
    var allowsTextSearch: Bool {
        configuration.sealing == nil || configuration.allowsPlaintextSearch
    }
}
#endif
