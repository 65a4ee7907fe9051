internal import KeelStorage
internal import Synchronization

extension Outbox {
    /// Returns the writes that the server has not accepted yet, in the order in which they were enqueued.
    ///
    /// - Throws: ``OutboxError/Code/storage`` or ``OutboxError/Code/storageUnavailable``.
    @concurrent
    public func pending() async throws(OutboxError) -> [OutboxEntry] {
        try await entries(OutboxEntry.pendingStatus)
    }

    /// Returns the writes of a user that the server has not accepted yet.
    ///
    /// - Parameter owner: The user, as in ``OutboxWrite/owner``; nil for the writes without an owner.
    /// - Returns: The writes, in the order in which they were enqueued.
    /// - Throws: ``OutboxError/Code/storage`` or ``OutboxError/Code/storageUnavailable``.
    @concurrent
    public func pending(of owner: String?) async throws(OutboxError) -> [OutboxEntry] {
        try await pending().filter { $0.write.owner == owner }
    }

    /// Returns the rejected writes, in the order in which they were enqueued.
    ///
    /// - Throws: ``OutboxError/Code/storage`` or ``OutboxError/Code/storageUnavailable``.
    @concurrent
    public func rejected() async throws(OutboxError) -> [OutboxEntry] {
        try await entries(OutboxEntry.rejectedStatus)
    }

    /// Returns the rejected writes of a user.
    ///
    /// - Parameter owner: The user, as in ``OutboxWrite/owner``; nil for the writes without an owner.
    /// - Returns: The writes, in the order in which they were enqueued.
    /// - Throws: ``OutboxError/Code/storage`` or ``OutboxError/Code/storageUnavailable``.
    @concurrent
    public func rejected(of owner: String?) async throws(OutboxError) -> [OutboxEntry] {
        try await rejected().filter { $0.write.owner == owner }
    }

    /// Returns the entries that cannot be read, sorted by id.
    ///
    /// The call reads all entries.
    ///
    /// ``pending()``, ``rejected()`` and ``updates()`` omit these entries. An entry that becomes readable is sent in
    /// order; ``discard(_:)`` drops one that stays unreadable.
    ///
    /// - Throws: ``OutboxError/Code/storage`` or ``OutboxError/Code/storageUnavailable``.
    @concurrent
    public func damaged() async throws(OutboxError) -> [DamagedOutboxEntry] {
        try await asking { () async throws(StorageError) in try await core.damagedEntries() }
    }

    /// Returns the keys of all pending and rejected writes, and of the damaged entries whose key can be read.
    ///
    /// Data from the server must not replace the local changes of these writes. The call reads all entries.
    ///
    /// - Throws: ``OutboxError/Code/storage`` or ``OutboxError/Code/storageUnavailable``.
    @concurrent
    public func unsentKeys() async throws(OutboxError) -> Set<String> {
        try await asking { () async throws(StorageError) in try await core.allKeys() }
    }

    /// Returns the keys whose local state is ahead of the server's, and whether the last write of each is marked.
    ///
    /// These are the keys of pending writes, and of the rejected writes and damaged entries that hold their key. A key
    /// with only a damaged entry counts as marked.
    package func protectedKeys(
        marking isMarked: @Sendable (OutboxWrite) -> Bool
    ) async throws(OutboxError) -> [String: Bool] {
        try await asking { () async throws(StorageError) -> [String: Bool] in
            var marks: [String: Bool] = [:]
            if configuration.rejection == .holdsKey {
                for key in try await core.allKeys() { marks[key] = true }
                // The pending writes of a key are later than the rejected one.
                marks.merge(try await core.marks(OutboxEntry.rejectedStatus, isMarked)) { $1 }
            }
            return marks.merging(try await core.marks(OutboxEntry.pendingStatus, isMarked)) { $1 }
        }
    }

    /// Returns whether a key is one of the ``protectedKeys(marking:)``, reading only the entries of this key.
    package func protects(_ key: String) async throws(OutboxError) -> Bool {
        let isPending = configuration.rejection != .holdsKey
        return try await asking { () async throws(StorageError) in
            try await core.hasEntry(withKey: key, pending: isPending)
        }
    }

    /// Returns the readable entries of the outbox, now and after each change.
    public func updates() -> OutboxUpdates { OutboxUpdates(core: core) }

    private func entries(_ status: String) async throws(OutboxError) -> [OutboxEntry] {
        try await asking { () async throws(StorageError) in try await core.allEntries(status) }
    }

    private func asking<Value>(
        about id: OutboxWrite.ID? = nil,
        _ body: () async throws(StorageError) -> Value
    ) async throws(OutboxError) -> Value {
        do throws(StorageError) {
            return try await body()
        } catch {
            throw OutboxError(error, write: id)
        }
    }

    // MARK: Decisions

    /// Sends a rejected write again, after the other writes of its key; with ``Outbox/Rejection/holdsKey``, in its
    /// place.
    ///
    /// A write that the server refused gets a new idempotency key: see ``OutboxEntry/idempotencyKey``. The retry delay
    /// of a pending write ends.
    ///
    /// - Throws: ``OutboxError/Code/notFound`` if the outbox has no such write, ``OutboxError/Code/sending`` while an
    ///   attempt is in progress, ``OutboxError/Code/damaged`` if the entry cannot be read, or
    ///   ``OutboxError/Code/storage`` or ``OutboxError/Code/storageUnavailable``.
    @concurrent
    public func retry(_ id: OutboxWrite.ID) async throws(OutboxError) {
        try await change(id) { entry in
            entry.isRejected ? renewal(of: entry, isNewWish: entry.isRefused) : entry.release
        }
    }

    /// Changes a write and sends it, after the other writes of its key; with ``Outbox/Rejection/holdsKey``, in its
    /// place.
    ///
    /// Changes to the key are ignored. The write gets a new idempotency key. If it was sent before, the server may have
    /// applied the earlier version, unless it refused that version.
    ///
    /// - Throws: ``OutboxError/Code/notFound`` if the outbox has no such write, ``OutboxError/Code/sending`` while an
    ///   attempt is in progress, ``OutboxError/Code/damaged`` if the entry cannot be read, or
    ///   ``OutboxError/Code/storage`` or ``OutboxError/Code/storageUnavailable``.
    @concurrent
    public func edit(
        _ id: OutboxWrite.ID,
        _ body: @Sendable (inout OutboxWrite) -> Void
    ) async throws(OutboxError) {
        try await change(id) { entry in
            var write = entry.write
            body(&write)
            let owner = write.owner.map { FieldChange.Action.set(.string($0)) }
            return renewal(of: entry, isNewWish: true) + [
                FieldChange("kind", .set(.string(write.kind))),
                FieldChange("attributes", .set(.map(write.attributeFields))),
                FieldChange("body", .set(.bytes(write.body))),
                FieldChange("user", owner ?? .remove),
            ]
        }
    }

    /// Drops a write or a damaged entry without sending it.
    ///
    /// - Throws: ``OutboxError/Code/notFound`` if the outbox has no such write, ``OutboxError/Code/sending`` while an
    ///   attempt is in progress, or ``OutboxError/Code/storage`` or ``OutboxError/Code/storageUnavailable``.
    @concurrent
    public func discard(_ id: OutboxWrite.ID) async throws(OutboxError) {
        try await decide(id) { item throws(OutboxError) in
            // Damaged entries are never sent, so there is no lease to respect.
            let condition = item.entry.map { WriteCondition.revision($0.revision) } ?? .exists
            return try await asking(about: id) { () async throws(StorageError) in
                try await core.remove(id, as: .discarded, if: condition)
            }
        }
        core.receipts[id]?.fulfil(.failure(OutboxError(.discarded, write: id)))
    }

    /// Drops all entries, for example when the user signs out.
    ///
    /// Stop the runner first: an attempt in progress is not canceled.
    ///
    /// - Throws: ``OutboxError/Code/storage`` or ``OutboxError/Code/storageUnavailable``.
    @concurrent
    public func discardAll() async throws(OutboxError) {
        let all = try await asking { () async throws(StorageError) in try await core.allPaths() }
        try await discard(all)
    }

    /// Drops all entries of a user, for example when the user signs out.
    ///
    /// Damaged entries whose owner cannot be read count as entries without an owner. An attempt in progress is not
    /// canceled.
    ///
    /// - Parameter owner: The user, as in ``OutboxWrite/owner``; nil for the writes without an owner.
    /// - Throws: ``OutboxError/Code/storage`` or ``OutboxError/Code/storageUnavailable``.
    @concurrent
    public func discardAll(of owner: String?) async throws(OutboxError) {
        let own = try await asking { () async throws(StorageError) in
            try await core.allPaths { $0.owner == owner }
        }
        try await discard(own)
    }

    private func discard(_ paths: Set<DocumentPath>) async throws(OutboxError) {
        let ids = paths.sorted().map(\.id)
        for start in stride(from: 0, to: ids.count, by: 200) {
            let batch = ids[start..<min(start + 200, ids.count)]
            let removed = try await asking { () async throws(StorageError) in
                try await core.remove(batch, as: .discarded)
            }
            for id in removed {
                core.receipts[id]?.fulfil(.failure(OutboxError(.discarded, write: id)))
            }
        }
        core.ring()
    }

    private func change(
        _ id: String,
        _ changes: (OutboxEntry) -> [FieldChange]
    ) async throws(OutboxError) {
        var resend = 0
        try await decide(id) { item throws(OutboxError) in
            switch item {
            case .damaged(let damaged):
                throw OutboxError(.damaged, write: id, cause: damaged.error)
            case .entry(let entry):
                // After the rejection was stored, and before a runner can send the write again.
                resend = core.resendCount.wrappingAdd(1, ordering: .relaxed).newValue
                return try await asking(about: id) { () async throws(StorageError) in
                    try await core.change(entry, changes(entry)) != nil
                }
            }
        }
        core.receipts[id]?.reopen(resend: resend)
    }

    private func renewal(of entry: OutboxEntry, isNewWish: Bool) -> [FieldChange] {
        var changes = entry.renewal(isNewWish: isNewWish, at: core.moment)
        // With `holdsKey`, the writes enqueued since may depend on this one.
        if configuration.rejection == .continuesKey {
            changes += [
                FieldChange("at", .transform(.commitTime)),
                FieldChange("position", .set(.integer(core.nextPosition()))),
            ]
        }
        return changes
    }

    /// Performs an operation on an entry without a lease, again if the entry has changed.
    private func decide(
        _ id: String,
        _ body: (OutboxItem) async throws(OutboxError) -> Bool
    ) async throws(OutboxError) {
        while true {
            let item = try await asking(about: id) { () async throws(StorageError) in
                try await core.item(id)
            }
            guard let item else { throw OutboxError(.notFound, write: id) }
            if case .sending = item.entry?.state { throw OutboxError(.sending, write: id) }
            if try await body(item) {
                core.ring()
                return
            }
        }
    }
}

extension OutboxEntry {
    fileprivate func renewal(isNewWish: Bool, at moment: OutboxMoment) -> [FieldChange] {
        release + [
            FieldChange("status", .set(.string(Self.pendingStatus))),
            FieldChange("generation", .set(.integer(Int64(generation + (isNewWish ? 1 : 0))))),
            FieldChange("isRefused", .remove),
            FieldChange("isInDoubt", .set(.boolean(!isNewWish))),
            FieldChange("attempts", .set(0)), FieldChange("tries", .set(0)),
            FieldChange("begun", .set(.map(moment.fields))),
        ]
    }

    fileprivate var release: [FieldChange] { Self.unpausing + Self.unclaiming }
}

/// A sequence of the readable entries of an outbox: see ``Outbox/updates()``.
public struct OutboxUpdates: AsyncSequence, Sendable {
    public typealias Element = [OutboxEntry]
    public typealias Failure = OutboxError

    let core: OutboxCore

    public func makeAsyncIterator() -> Iterator {
        // Sorted by the iterator, so that no index is needed.
        let snapshots = core.client.listen(to: DocumentQuery(core.collection))
        return Iterator(core: core, base: snapshots.makeAsyncIterator())
    }

    /// The iterator of the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        let core: OutboxCore
        var base: QuerySnapshots.Iterator

        /// Returns the next state; nil if the task is canceled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(OutboxError) -> [OutboxEntry]? {
            do throws(StorageError) {
                guard let snapshot = try await base.next(isolation: actor) else { return nil }
                let moment = core.moment
                return snapshot.documents.compactMap { OutboxItem($0, at: moment).entry }
                    .sorted { ($0.enqueuedAt, $0.position) < ($1.enqueuedAt, $1.position) }
            } catch {
                throw OutboxError(error)
            }
        }
    }
}

@available(*, unavailable)
extension OutboxUpdates.Iterator: Sendable {}
