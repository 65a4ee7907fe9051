public import KeelStorage

/// Keeps what a server is to be told, and tells it when it can be reached.
///
/// ```swift
/// let outbox = Outbox(storage)
/// let receipt = try await outbox.enqueue(OutboxWrite(key: "favourites/42", kind: "PUT"))
///
/// // Once, for as long as the app runs:
/// try await outbox.run(sending: sender, whileOnline: network.onlineStates)
/// ```
///
/// - What ``enqueue(_:)`` has returned is on disk, and is sent although the process ends. It is
///   kept beside the app's own documents, so that a local change and its write can be committed
///   together: ``enqueue(_:with:)``.
/// - The server applies a write once if it honours idempotency keys: the key stays the same over
///   attempts and restarts.
/// - Writes of one key arrive in their order; different keys do not wait for each other.
/// - Several processes, or several runners, on one store do not send a write at the same time.
/// - What the server refuses stays visible in ``rejected()`` until it is sent again or dropped.
/// - A write that cannot be read stops no other; ``damaged()`` names it.
///
/// Without a runner, writes are kept and wait. An outbox is a value whose copies belong together;
/// make one for each store and name, and pass it on.
public struct Outbox: Sendable {
    let core: OutboxCore

    /// The settings.
    public var configuration: Configuration { core.configuration }

    /// Creates an outbox in a store.
    ///
    /// - Parameters:
    ///   - storage: Where writes are kept: a store on this device.
    ///   - name: What tells this outbox from others in the store; without a slash.
    ///   - configuration: The settings.
    public init(
        _ storage: StorageClient,
        name: String = "main",
        configuration: Configuration = Configuration()
    ) {
        core = OutboxCore(storage, name: name, configuration)
    }

    // MARK: Putting in

    /// Puts a write into the outbox.
    ///
    /// - Returns: The receipt, once the write is on disk.
    /// - Throws: ``OutboxError/Code/storage`` or ``OutboxError/Code/storageUnavailable``. After the
    ///   latter the write may be in the outbox; call again with the same value to be sure.
    @discardableResult
    @concurrent
    public func enqueue(_ write: OutboxWrite) async throws(OutboxError) -> OutboxReceipt {
        let insertion = try core.insertion(of: write)
        let receipt = core.receipts.receipt(for: write.id, core)
        do throws(StorageError) {
            _ = try await core.client.commitOwn([insertion], for: "enqueue")
        } catch {
            // It is there from a call before.
            guard error.code == .alreadyExists else { throw OutboxError(error, write: write.id) }
        }
        receipt.reopen()
        core.ring()
        return receipt
    }

    /// Puts a write into the outbox together with changes to the app's documents: all or nothing.
    ///
    /// ```swift
    /// let receipt = try await outbox.enqueue(write) { batch in
    ///     try batch.set("favourites/42", ["since": .timestamp(.now())])
    /// }
    /// ```
    ///
    /// - Returns: The receipt, once the write and the changes are on disk.
    /// - Throws: ``OutboxError``, `StorageError`, or what `changes` throws; nothing has then been
    ///   written, unless the error's effect is unknown.
    @discardableResult
    public func enqueue(
        _ write: OutboxWrite,
        with changes: (inout WriteBatchBuilder) throws -> Void
    ) async throws -> OutboxReceipt {
        let receipt = core.receipts.receipt(for: write.id, core)
        // Collected here and not in the commit: the closure belongs to the caller's actor.
        var batch = WriteBatchBuilder()
        try changes(&batch)
        try enqueue(write, in: &batch)
        _ = try await core.client.commit(batch, for: "enqueue")
        return receipt
    }

    /// Adds a write to a batch or a transaction of the outbox's store.
    ///
    /// It is in the outbox once the batch is committed, and not if that fails. A batch with a write
    /// whose id is in the outbox already fails.
    ///
    /// - Parameters:
    ///   - write: What the server is to be told.
    ///   - batch: A batch for the store that the outbox is in, and no other.
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

    /// The receipt of a write that is or was in the outbox, for example from an earlier launch.
    public func receipt(for id: OutboxWrite.ID) -> OutboxReceipt {
        core.receipts.receipt(for: id, core)
    }

    // MARK: Sending

    /// Sends what is in the outbox, and what is put into it, until the calling task is cancelled.
    ///
    /// - Throws: ``OutboxError/Code/storage`` when the store fails for good.
    @concurrent
    public func run(sending sender: some OutboxSender) async throws(OutboxError) {
        try await OutboxRunner(core, sender).run(connectivity: nil)
    }

    /// Sends like ``run(sending:)``, and begins no attempt while the sequence says false.
    ///
    /// When it says true again, writes that reached nobody before are tried at once.
    ///
    /// - Throws: ``OutboxError/Code/storage`` when the store fails for good.
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

    /// Sends what can be sent now, and returns when nothing more can.
    ///
    /// For background tasks and command line tools, where nothing runs for long. What waits for a
    /// pause or belongs to another runner is left, and so is what cannot be read.
    ///
    /// - Returns: Whether the outbox holds no pending write any more; rejected and damaged ones are
    ///   none.
    /// - Throws: ``OutboxError/Code/storage`` when the store fails for good.
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
