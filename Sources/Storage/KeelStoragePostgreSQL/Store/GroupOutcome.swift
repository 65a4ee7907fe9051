#if PostgreSQL
internal import KeelStorageAdapting

/// The outcome of a group whose connection was lost during its commit.
struct GroupOutcome {
    private let group: Int64
    private let store: OpenStore
    private let connection: DatabaseConnection

    init(_ group: Int64, of store: OpenStore, on connection: DatabaseConnection) {
        self.group = group
        self.store = store
        self.connection = connection
    }

    /// Returns the statement that records a group as the last one of its adapter.
    ///
    /// Its time, by which trimming finds the rows of lost adapters, is the clock if that is later than the sequence,
    /// which a group without changes does not advance.
    static func record(
        of group: Int64,
        at tail: StoreTail,
        in store: OpenStore
    ) -> DatabaseStatement {
        DatabaseStatement(
            """
            INSERT INTO keel.groups(store, instance, number, seq) VALUES ($1, $2, $3, $4)
            ON CONFLICT (store, instance) DO UPDATE SET number = excluded.number, seq = excluded.seq
            """
        ) {
            $0.add(store.number)
            $0.add(store.instance)
            $0.add(group)
            $0.add(max(tail.sequence, store.time(tail).microseconds))
        }
    }

    /// Waits until the group is known to be committed, and confirmed like any commit.
    ///
    /// - Returns: Whether the server has warned that a standby has not confirmed it.
    /// - Throws: The failure, if the group never takes effect; an error with an unknown effect, if the server lacks the
    ///   store or none answers in time.
    func find(after failure: DatabaseFailure) throws -> Bool {
        let deadline = ContinuousClock.now + connection.answerLimit
        var last: any Error = failure
        while ContinuousClock.now < deadline {
            let isCommitted: Bool
            do {
                isCommitted = try self.isCommitted()
            } catch let error as StorageError {
                // The server does not have the store, and so does not know what another one has.
                throw Self.unknown(because: error)
            } catch {
                last = error
                if connection.isOpen { try? connection.end("ROLLBACK") }
                // If this failed with a lost connection, the group would run again, and might take effect twice.
                try? connection.pause(.milliseconds(50))
                continue
            }
            guard isCommitted else { throw StorageError(mapping: failure) }
            return connection.isUnconfirmed
        }
        throw Self.unknown(because: last)
    }

    private static func unknown(because cause: any Error) -> StorageError {
        StorageError(
            .unavailable,
            "the connection was lost during a commit, which may have taken effect",
            effect: .unknown,
            cause: cause
        )
    }

    private func isCommitted() throws -> Bool {
        let rows = try connection.run(Self.question(about: store))
        let hasStore = rows[1].first != nil
        guard hasStore, rows[2].first?.integer(0) == group else {
            try connection.run(DatabaseStatement("ROLLBACK"))
            // The opening of a connection through a pooler does not look for the store.
            guard hasStore else { throw StorageError.removedStore }
            return false
        }
        try connection.run(Self.confirmation(of: group, in: store), .committing)
        return true
    }

    /// Returns statements whose third one finds the last group of an adapter, in a transaction that stays open.
    static func question(about store: OpenStore) -> [DatabaseStatement] {
        // The lock waits for the former connection's process, should the server still be at work for it.
        [
            DatabaseStatement(CommitGroup.begin),
            store.tailStatement(isLocking: true),
            DatabaseStatement("SELECT number FROM keel.groups WHERE store = $1 AND instance = $2") {
                $0.add(store.number)
                $0.add(store.instance)
            },
        ]
    }

    /// Returns the statements that end the question about a committed group.
    ///
    /// A restarted server has the groups that waited for a standby, whether or not the standby has them. This write
    /// comes later in the server's log, so a standby that confirms it has the group too.
    static func confirmation(of group: Int64, in store: OpenStore) -> [DatabaseStatement] {
        [
            DatabaseStatement(
                "UPDATE keel.groups SET number = $3 WHERE store = $1 AND instance = $2"
            ) {
                $0.add(store.number)
                $0.add(store.instance)
                $0.add(group)
            },
            DatabaseStatement("COMMIT"),
        ]
    }
}
#endif
