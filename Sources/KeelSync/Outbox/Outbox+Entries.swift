internal import KeelStorage

extension Outbox {
    /// The writes that the server is yet to take, in the order in which they were put in.
    ///
    /// - Throws: ``OutboxError/Code/storage`` or ``OutboxError/Code/storageUnavailable``.
    @concurrent
    public func pending() async throws(OutboxError) -> [OutboxEntry] {
        try await entries(OutboxEntry.pendingStatus)
    }

    /// The writes that the server refused for good, in the order in which they were put in.
    ///
    /// - Throws: ``OutboxError/Code/storage`` or ``OutboxError/Code/storageUnavailable``.
    @concurrent
    public func rejected() async throws(OutboxError) -> [OutboxEntry] {
        try await entries(OutboxEntry.rejectedStatus)
    }

    /// The writes that cannot be read, by their ids; it takes reading all writes to find them.
    ///
    /// They are neither sent nor among ``pending()``, ``rejected()`` and ``updates()``. One that can
    /// be read again is sent in its turn; ``discard(_:)`` drops one that never will be.
    ///
    /// - Throws: ``OutboxError/Code/storage`` or ``OutboxError/Code/storageUnavailable``.
    @concurrent
    public func damaged() async throws(OutboxError) -> [DamagedOutboxEntry] {
        try await asking { () async throws(StorageError) in try await core.damagedEntries() }
    }

    /// The keys of all writes that the server has not taken, the rejected ones included, and the
    /// damaged ones whose key can be read.
    ///
    /// Data that comes from the server does not show these writes yet: do not let it replace what
    /// they changed here.
    ///
    /// - Throws: ``OutboxError/Code/storage`` or ``OutboxError/Code/storageUnavailable``.
    @concurrent
    public func unsentKeys() async throws(OutboxError) -> Set<String> {
        let damaged = try await damaged().compactMap(\.key)
        return Set(try await (pending() + rejected()).map(\.write.key) + damaged)
    }

    /// The keys whose state on this device is ahead of what the server can say.
    ///
    /// Those of pending writes, and of rejected and damaged ones that hold their key. A rejected
    /// write that lets others pass no longer keeps the server's state away: it waits in
    /// ``rejected()``.
    package func protectedKeys() async throws(OutboxError) -> Set<String> {
        if configuration.rejection == .holdsKey { return try await unsentKeys() }
        return Set(try await pending().map(\.write.key))
    }

    /// What is in the outbox now and after each change, for a view.
    public func updates() -> OutboxUpdates { OutboxUpdates(core: core) }

    private func entries(_ status: String) async throws(OutboxError) -> [OutboxEntry] {
        try await asking { () async throws(StorageError) in try await core.allEntries(status) }
    }

    /// Says what a failure of the store means to the caller.
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

    // MARK: Deciding

    /// Sends a rejected write again, behind the others of its key.
    ///
    /// If it was the server that refused it, it gets a new idempotency key: see
    /// ``OutboxEntry/idempotencyKey``. A write that waits for a pause is tried at once.
    ///
    /// - Throws: ``OutboxError/Code/notFound``, ``OutboxError/Code/sending``,
    ///   ``OutboxError/Code/damaged``.
    @concurrent
    public func retry(_ id: OutboxWrite.ID) async throws(OutboxError) {
        try await change(id) { entry in
            entry.isRejected
                ? entry.renewal(isNewWish: entry.isRefused, position: core.nextPosition())
                : entry.release
        }
    }

    /// Changes a write and sends it, behind the others of its key.
    ///
    /// It gets a new idempotency key. A write that has been tried may have reached the server as it
    /// was: only one that the server refused is known not to have.
    ///
    /// - Parameters:
    ///   - id: The write.
    ///   - body: Changes it; its key stays as it is.
    /// - Throws: ``OutboxError/Code/notFound``, ``OutboxError/Code/sending``,
    ///   ``OutboxError/Code/damaged``.
    @concurrent
    public func edit(
        _ id: OutboxWrite.ID,
        _ body: @Sendable (inout OutboxWrite) -> Void
    ) async throws(OutboxError) {
        try await change(id) { entry in
            var write = entry.write
            body(&write)
            return entry.renewal(isNewWish: true, position: core.nextPosition()) + [
                FieldChange("kind", .set(.string(write.kind))),
                FieldChange("attributes", .set(.map(write.attributeFields))),
                FieldChange("body", .set(.bytes(write.body))),
            ]
        }
    }

    /// Drops a write, which may be a damaged one: the server will not be told.
    ///
    /// - Throws: ``OutboxError/Code/notFound``, ``OutboxError/Code/sending``.
    @concurrent
    public func discard(_ id: OutboxWrite.ID) async throws(OutboxError) {
        try await decide(id) { item throws(OutboxError) in
            // A damaged entry has no claim to respect: nobody sends it.
            let condition = item.entry.map { WriteCondition.revision($0.revision) } ?? .exists
            return try await asking(about: id) { () async throws(StorageError) in
                try await core.remove(id, as: .discarded, if: condition)
            }
        }
        core.receipts[id]?.fulfil(.failure(OutboxError(.discarded, write: id)))
    }

    /// Drops everything, for example when the user signs out.
    ///
    /// An attempt that is under way is not stopped: end the runner first.
    ///
    /// - Throws: ``OutboxError/Code/storage`` or ``OutboxError/Code/storageUnavailable``.
    @concurrent
    public func discardAll() async throws(OutboxError) {
        let entries = try await pending() + rejected()
        for id in try await entries.map(\.id) + damaged().map(\.id) {
            let isHere = try await asking(about: id) { () async throws(StorageError) in
                try await core.remove(id, as: .discarded, if: .exists)
            }
            // One that is gone has been taken meanwhile, or dropped by somebody else.
            guard isHere else { continue }
            core.receipts[id]?.fulfil(.failure(OutboxError(.discarded, write: id)))
        }
        core.ring()
    }

    private func change(
        _ id: String,
        _ changes: (OutboxEntry) -> [FieldChange]
    ) async throws(OutboxError) {
        try await decide(id) { item throws(OutboxError) in
            switch item {
            case .damaged(let damaged):
                throw OutboxError(.damaged, write: id, cause: damaged.error)
            case .entry(let entry):
                return try await asking(about: id) { () async throws(StorageError) in
                    try await core.change(entry, changes(entry)) != nil
                }
            }
        }
        core.receipts[id]?.reopen()
    }

    /// Does something with an entry that nobody sends; again, if it changes meanwhile.
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
    /// What makes a write one that is to be sent, behind the others of its key.
    fileprivate func renewal(isNewWish: Bool, position: Int64) -> [FieldChange] {
        release + [
            FieldChange("status", .set(.string(Self.pendingStatus))),
            FieldChange("generation", .set(.integer(Int64(generation + (isNewWish ? 1 : 0))))),
            FieldChange("isRefused", .remove),
            FieldChange("attempts", .set(0)), FieldChange("tries", .set(0)),
            // Those put in meanwhile have been sent, or will be: it comes after them.
            FieldChange("at", .transform(.commitTime)),
            FieldChange("position", .set(.integer(position))),
        ]
    }

    /// What takes the pause away.
    fileprivate var release: [FieldChange] { Self.unpausing + Self.unclaiming }
}

/// The entries of an outbox that can be read, as they change: see ``Outbox/updates()``.
public struct OutboxUpdates: AsyncSequence, Sendable {
    public typealias Element = [OutboxEntry]
    public typealias Failure = OutboxError

    let core: OutboxCore

    public func makeAsyncIterator() -> Iterator {
        let query = DocumentQuery(core.collection).order(by: "at").order(by: "position")
        let snapshots = core.client.listen(to: query)
        return Iterator(core: core, base: snapshots.makeAsyncIterator())
    }

    /// Reads the states one by one.
    public struct Iterator: AsyncIteratorProtocol {
        let core: OutboxCore
        var base: QuerySnapshots.Iterator

        /// Waits for the next state; nil when the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(OutboxError) -> [OutboxEntry]? {
            do throws(StorageError) {
                guard let snapshot = try await base.next(isolation: actor) else { return nil }
                let moment = core.moment
                return snapshot.documents.compactMap { OutboxItem($0, at: moment).entry }
            } catch {
                throw OutboxError(error)
            }
        }
    }
}

@available(*, unavailable)
extension OutboxUpdates.Iterator: Sendable {}
