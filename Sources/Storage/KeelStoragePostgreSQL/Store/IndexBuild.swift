#if PostgreSQL
internal import KeelStorageAdapting
internal import Synchronization

/// A build of the declared indexes that are incomplete, one step per transaction.
///
/// Each step holds the store's tail, so that no commit comes in between. The column `built` of `indexes` holds the
/// progress of an index: the number of the last document that has been indexed, null for a complete index, and
/// ``dropped`` for one whose entries are being removed. Several builders share the work.
struct IndexBuild: Sendable {
    /// Stands for a document: the index is no longer maintained, and is removed after its entries.
    static let dropped: Int64 = -1
    private static let documentsPerStep: Int64 = 500
    /// The approximate number of bytes of documents that one step reads.
    private static let bytesPerStep = 4 << 20
    /// The number of entries of a dropped index that one step removes.
    private static let entriesPerStep = 10_000

    /// The indexes that cover an unreadable document.
    ///
    /// If completed without it, they would hide it even after it becomes readable.
    private var heldUp: Set<Int64> = []

    // MARK: Declaring and dropping

    /// Adds definitions that the store lacks.
    static func declare(_ kinds: [StoredIndex.Kind], in snapshot: TableSnapshot) throws {
        for kind in kinds {
            // The number of an index is never used again.
            _ = try snapshot.run(
                """
                WITH next AS (
                    UPDATE keel.stores SET indexes = indexes + 1 WHERE store = $1 AND NOT EXISTS (
                        SELECT 1 FROM keel.indexes
                        WHERE store = $1 AND definition = $3 AND built IS DISTINCT FROM \(dropped)
                    )
                    RETURNING indexes
                )
                INSERT INTO keel.indexes(store, ix, name, definition, built) SELECT $1, indexes, $2, $3, 0 FROM next
                """
            ) {
                $0.add(text: kind.name)
                $0.add(kind.encoded)
            }
        }
        try advanceGeneration(in: snapshot)
    }

    /// Hides indexes from queries and writers; ``removeDropped(in:)`` removes their entries.
    static func drop(_ kinds: [StoredIndex.Kind], in snapshot: TableSnapshot) throws {
        _ = try snapshot.run(
            "UPDATE keel.indexes SET built = \(dropped) WHERE store = $1 AND definition = ANY ($2)"
        ) { $0.add(kinds.map(\.encoded)) }
        try advanceGeneration(in: snapshot)
    }

    private static func advanceGeneration(in snapshot: TableSnapshot) throws {
        _ = try snapshot.run("UPDATE keel.stores SET generation = generation + 1 WHERE store = $1")
    }

    /// Removes some entries of a dropped index, and finally its definition.
    ///
    /// - Returns: Whether there is more to do.
    static func removeDropped(in snapshot: TableSnapshot) throws -> Bool {
        let open = try snapshot.run(
            "SELECT ix FROM keel.indexes WHERE store = $1 AND built = \(dropped) ORDER BY ix LIMIT 1"
        )
        guard let number = open.first?.integer(0) else { return false }
        for table in ["entries", "words"] {
            let removed = try snapshot.run(
                """
                DELETE FROM keel.\(table) WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM keel.\(table) WHERE store = $1 AND ix = $2 LIMIT \(entriesPerStep)))
                """
            ) { $0.add(number) }
            if removed.changedCount == entriesPerStep { return true }
        }
        _ = try snapshot.run("DELETE FROM keel.indexes WHERE store = $1 AND ix = $2") {
            $0.add(number)
        }
        return true
    }

    // MARK: Building

    private struct Open {
        let index: StoredIndex
        var built: Int64
    }

    /// Writes the entries of some documents for the indexes with the least progress.
    ///
    /// - Returns: Whether there is more to do.
    mutating func step(in snapshot: TableSnapshot) throws -> Bool {
        if try Self.removeDropped(in: snapshot) { return true }
        let open = try snapshot.storedIndexes().compactMap { index in
            index.built.map { Open(index: index, built: $0) }
        }.filter { !heldUp.contains($0.index.number) }
        guard let start = open.map(\.built).min() else { return false }
        var group = open.filter { $0.built == start }
        // Indexes with more progress join when the others have caught up.
        let end = open.map(\.built).filter { $0 > start }.min() ?? .max
        let rows = try snapshot.run(
            """
            SELECT \(TableSnapshot.columns) FROM keel.documents d
            WHERE d.store = $1 AND d.did > $2 AND d.did <= $3 ORDER BY d.did LIMIT \(Self.documentsPerStep)
            """
        ) {
            $0.add(start)
            $0.add(end)
        }
        var writes = GroupWrites(store: snapshot.store.number)
        var size = AnswerSize(most: Self.bytesPerStep)
        var isStopped = false
        for row in rows {
            // Cancellation keeps the entries written so far.
            isStopped = size.isFull || Task.isCancelled
            if isStopped { break }
            try row.withStored { stored in
                if let document = try add(stored, to: &group, &writes, snapshot) {
                    size.add(document)
                }
            }
        }
        let statements = writes.statements()
        if !statements.isEmpty { try snapshot.connection.run(statements) }
        let isAtEnd = rows.count < Int(Self.documentsPerStep) && !isStopped
        for open in group {
            let isWhole = isAtEnd && !heldUp.contains(open.index.number)
            let built = isWhole ? end == .max ? nil : end : open.built
            _ = try snapshot.run("UPDATE keel.indexes SET built = $3 WHERE store = $1 AND ix = $2")
            {
                $0.add(open.index.number)
                $0.add(optional: built)
            }
            // Progress does not affect queries; completion does.
            if built == nil { try Self.advanceGeneration(in: snapshot) }
        }
        return true
    }

    /// Writes the entries of one document.
    ///
    /// - Returns: The document, if it was read.
    private mutating func add(
        _ row: borrowing StoredRow,
        to group: inout [Open],
        _ writes: inout GroupWrites,
        _ snapshot: TableSnapshot
    ) throws -> Document? {
        let collection = try snapshot.path(of: row.collection)
        let path = row.path(in: collection)
        var content: Result<Document, StorageError>?
        for position in group.indices {
            let index = group[position].index
            if heldUp.contains(index.number) { continue }
            guard StoredName.same(collection.name, index.collection) else {
                group[position].built = row.number
                continue
            }
            // Read once, and only if an index covers it.
            if content == nil {
                do throws(StorageError) {
                    content = .success(try row.document(at: path, openedBy: snapshot.sealing))
                } catch {
                    content = .failure(error)
                }
            }
            switch content {
            case .success(let document)?:
                let writer = EntryWriter(snapshot.sealing, path, row.collection, row.number)
                try writer.replace(nil, by: document.body, in: index, &writes)
                group[position].built = row.number
            case .failure?, nil:
                // A text search cannot scan, so it is built without the document.
                if case .search = index.kind {
                    group[position].built = row.number
                } else {
                    heldUp.insert(index.number)
                }
            }
        }
        if case .success(let document)? = content { return document }
        return nil
    }
}

/// Builds indexes while an adapter is used, in a task that ends with the adapter.
final class IndexBuilding: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        /// Whether a declaration has been added that the task may have missed.
        var isWanted = false
        var isEnded = false
    }

    private let state = Mutex(State())

    deinit { end() }

    func begin(for adapter: PostgreSQLStorageAdapter) {
        state.withLock { state in
            state.isWanted = true
            guard state.task == nil, !state.isEnded else { return }
            state.task = Task(priority: .utility) { [weak self, weak adapter] in
                while self?.isWantedAgain() == true {
                    var build = IndexBuild()
                    // The next preparation repeats a failed step and throws its error.
                    while !Task.isCancelled, let adapter,
                        (try? await adapter.advance(&build)) == true
                    {}
                }
            }
        }
    }

    private func isWantedAgain() -> Bool {
        state.withLock { state in
            defer { state.isWanted = false }
            if !state.isWanted { state.task = nil }
            return state.isWanted
        }
    }

    func end() {
        let task = state.withLock { state in
            defer { state.task = nil }
            state.isEnded = true
            return state.task
        }
        task?.cancel()
    }
}
#endif
