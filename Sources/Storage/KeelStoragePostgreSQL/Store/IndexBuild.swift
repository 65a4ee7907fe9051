#if PostgreSQL
internal import KeelStorageAdapting

/// The steps hold the store's tail, so that no commit comes in between.
extension IndexBuild {
    private static let documentsPerStep = 500

    // MARK: Declaring and dropping

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

    /// Removes some entries of a dropped index, and finally its definition; returns whether there was one.
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

    /// Removes some entries of a dropped index, or writes those of some documents for the indexes with the least
    /// progress.
    ///
    /// - Returns: Whether there may be more to do.
    mutating func step(in snapshot: TableSnapshot) throws -> Bool {
        if try Self.removeDropped(in: snapshot) { return true }
        guard var step = next(of: try snapshot.storedIndexes()) else { return false }
        let rows = try snapshot.run(
            """
            SELECT \(TableSnapshot.columns) FROM keel.documents d
            WHERE d.store = $1 AND d.did > $2 AND d.did <= $3 ORDER BY d.did LIMIT \(Self.documentsPerStep)
            """
        ) {
            $0.add(step.after)
            $0.add(step.through)
        }
        var writes = GroupWrites(store: snapshot.store.number)
        for row in rows {
            let isAdded = try row.withStored { stored in
                let (number, collection) = (stored.number, stored.collection)
                return try step.add(stored, in: snapshot, &self) {
                    try snapshot.opensProof()
                } write: { document, index in
                    let path = document.path
                    try EntryWriter(snapshot.sealing, path, collection, number)
                        .replace(nil, by: document.body, in: index, &writes)
                }
            }
            if !isAdded { break }
        }
        let statements = writes.statements()
        if !statements.isEmpty { try snapshot.connection.run(statements) }
        for (index, built) in step.progress(isAtEnd: rows.count < Self.documentsPerStep, self) {
            _ = try snapshot.run("UPDATE keel.indexes SET built = $3 WHERE store = $1 AND ix = $2")
            {
                $0.add(index.number)
                $0.add(optional: built)
            }
            // Progress does not affect queries; completion does.
            if built == nil { try Self.advanceGeneration(in: snapshot) }
        }
        return true
    }
}

extension TableSnapshot {
    func opensProof() throws -> Bool {
        let rows = try run("SELECT proof FROM keel.stores WHERE store = $1")
        return sealing.opens(rows.first.flatMap { $0.isNull(0) ? nil : $0.bytes(0) })
    }
}
#endif
