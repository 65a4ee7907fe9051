public import KeelStorage

/// A persistent queue of writes that are sent to a server when it is reachable.
///
/// ```swift
/// let outbox = Outbox(storage)
/// let receipt = try await outbox.enqueue(OutboxWrite(key: "favourites/42", kind: "PUT"))
///
/// // Once, for as long as the app runs:
/// try await outbox.run(sending: sender, whileOnline: network.onlineStates)
/// ```
///
/// - A write is on disk when ``enqueue(_:)`` returns. ``enqueue(_:with:)`` also commits changes to the app's documents
///   in the same batch.
/// - A server that honors idempotency keys applies each write once.
/// - Writes with the same key are sent in order; writes with different keys do not wait for each other.
/// - Runners that share a store, in one process or several, do not send a write at the same time, as long as the sender
///   ends when it is canceled: see <doc:OutboxGuarantees>.
/// - Rejected writes stay in ``rejected()`` until they are sent again or dropped.
/// - Entries that cannot be read are skipped; ``damaged()`` returns them.
///
/// Without a runner, writes wait. Copies of an outbox share their state: create one outbox per store and name, and pass
/// it on.
public struct Outbox: Sendable {
    let core: OutboxCore

    /// The settings.
    public var configuration: Configuration { core.configuration }

    /// Creates an outbox in a store.
    ///
    /// - Parameters:
    ///   - storage: The store of the writes, on this device.
    ///   - name: The name of the outbox, unique in the store and without a slash.
    ///   - configuration: The settings.
    public init(
        _ storage: StorageClient,
        name: String = "main",
        configuration: Configuration = Configuration()
    ) {
        core = OutboxCore(storage, name: name, configuration)
    }

    // MARK: Enqueuing

    /// Adds a write to the outbox.
    ///
    /// Nothing is added if the outbox already contains a write with the same id, or if the server has accepted one in
    /// the last seven days. The receipt is then that of the earlier write.
    ///
    /// - Returns: The receipt, once the write is on disk.
    /// - Throws: ``OutboxError/Code/storage`` or ``OutboxError/Code/storageUnavailable``. After the latter or
    ///   ``OutboxError/Code/cancelled``, the write may be in the outbox; it is safe to call again with the same value.
    @discardableResult
    @concurrent
    public func enqueue(_ write: OutboxWrite) async throws(OutboxError) -> OutboxReceipt {
        let insertion = try core.insertion(of: write)
        let receipt = core.receipts.receipt(for: write.id, core)
        do throws(StorageError) {
            // An earlier call may have added it, and a runner may have sent it since.
            _ = try await core.add(write.id) { condition async throws(StorageError) in
                _ = try await core.client.commitOwn([insertion, condition], for: "enqueue")
            }
        } catch {
            throw OutboxError(error, write: write.id)
        }
        receipt.reopen()
        core.ring()
        return receipt
    }

    /// Adds a write to the outbox and changes the app's documents atomically.
    ///
    /// ```swift
    /// let receipt = try await outbox.enqueue(write) { batch in
    ///     try batch.set("favourites/42", ["since": .timestamp(.now())])
    /// }
    /// ```
    ///
    /// - Returns: The receipt, once the write and the changes are on disk.
    /// - Throws: ``OutboxError``, `StorageError`, or the error of `changes`. Nothing was written, unless the error's
    ///   effect is unknown. The code is `alreadyExists` if a write with the same id is in the outbox, or if the server
    ///   has accepted it in the last seven days.
    @discardableResult
    public func enqueue(
        _ write: OutboxWrite,
        with changes: (inout WriteBatchBuilder) throws -> Void
    ) async throws -> OutboxReceipt {
        let receipt = core.receipts.receipt(for: write.id, core)
        // Collected here and not in the commit, because the closure belongs to the caller's actor.
        var batch = WriteBatchBuilder()
        try changes(&batch)
        try enqueue(write, in: &batch)
        let isAdded = try await core.add(write.id) { [batch] condition async throws(StorageError) in
            var batch = batch
            batch.addOwn(condition) {}
            _ = try await core.client.commit(batch, for: "enqueue")
        }
        guard isAdded else {
            throw StorageError(
                .alreadyExists,
                "the write “\(write.id)” is in the outbox, or the server has accepted it",
                operation: "enqueue"
            )
        }
        return receipt
    }

    /// Adds a write to a batch or a transaction of the outbox's store.
    ///
    /// The batch fails if a write with the same id is in the outbox. Unlike the other methods, this one does not detect
    /// a write that the server has already accepted: if the batch can be repeated, add your own condition to it.
    ///
    /// - Parameters:
    ///   - write: The write.
    ///   - batch: A batch for the store of the outbox.
    /// - Throws: ``OutboxError/Code/storage`` for a write that cannot be stored.
    public func enqueue(
        _ write: OutboxWrite,
        in batch: inout WriteBatchBuilder
    ) throws(OutboxError) {
        let insertion = try core.insertion(of: write)
        batch.addOwn(insertion) { [core] in
            core.receipts[write.id]?.reopen()
            core.ring()
        }
    }

    /// Returns the receipt of a write, for example from an earlier launch.
    public func receipt(for id: OutboxWrite.ID) -> OutboxReceipt {
        core.receipts.receipt(for: id, core)
    }

    // MARK: Sending

    /// Sends all writes, including those enqueued later, until the calling task is canceled.
    ///
    /// - Throws: ``OutboxError/Code/storage`` if the store fails permanently.
    @concurrent
    public func run(sending sender: some OutboxSender) async throws(OutboxError) {
        try await OutboxRunner(core, sender).run(connectivity: nil)
    }

    /// Sends all writes like ``run(sending:)``, but starts no attempt while the last element of `connectivity` is
    /// false.
    ///
    /// When the element becomes true, writes whose last attempt did not reach the server are sent immediately.
    ///
    /// - Throws: ``OutboxError/Code/storage`` if the store fails permanently.
    @concurrent
    public func run<Connectivity: AsyncSequence & Sendable>(
        sending sender: some OutboxSender,
        whileOnline connectivity: Connectivity
    ) async throws(OutboxError) where Connectivity.Element == Bool, Connectivity.Failure == Never {
        let runner = OutboxRunner(core, sender)
        try await runner.run { set in
            for await isOnline in connectivity { set(isOnline) }
        }
    }

    /// Ends the retry delays of the writes whose last attempt did not reach the server, for example after a sign-in.
    ///
    /// This applies to the current runners of this process; a later ``flush(sending:)`` is not affected.
    public func retryNow() { core.retryNow() }

    /// Sends all writes that can be sent now, and returns.
    ///
    /// Writes that wait for a retry delay, are leased to another runner, or cannot be read are skipped.
    ///
    /// - Returns: Whether the outbox has no pending writes left. Rejected writes and damaged entries do not count.
    /// - Throws: ``OutboxError/Code/storage`` or ``OutboxError/Code/storageUnavailable``.
    @discardableResult
    @concurrent
    public func flush(sending sender: some OutboxSender) async throws(OutboxError) -> Bool {
        try await OutboxRunner(core, sender).flush()
        do throws(StorageError) {
            return try await !core.hasPending()
        } catch {
            throw OutboxError(error)
        }
    }
}
