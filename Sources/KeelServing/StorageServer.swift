import HTTPTypes
public import KeelHTTP
public import KeelStorage
import Synchronization

/// A handler that serves a store: Firestore's REST protocol, with what Keel adds to it.
///
/// ```swift
/// let server = StorageServer(adapter: try SQLiteStorageAdapter(at: file))
/// ```
///
/// Clients of Firestore's REST protocol, version v1, use it unchanged, under any project and any
/// database: all of them name the one store. `Documentation/Protocols/FirestoreExtensions.md` holds
/// what Keel adds. What a client sends is checked by the rules that `StorageClient` applies, and
/// collections that Keel keeps for itself can neither be read nor written.
///
/// Transactions are optimistic. The server remembers what a transaction has read, a commit with
/// its token takes effect only if all of that still holds, and is otherwise refused with `ABORTED`,
/// upon which clients begin again. No transaction ever waits for another. What is remembered is in
/// memory and bounded: a token that is too old, or was pushed out by others, is answered with
/// `ABORTED` too. Behind several instances, a transaction stays with the one that began it. Reads of
/// one transaction may come from different moments, which its commit then notices, also one without
/// writes.
///
/// Long replies of `runQuery`, `batchGet` and `list` are read page by page and made as they are sent.
/// Over a store that keeps a history they are of one moment. Over another, that holds for the first 16 MiB
/// of documents, and each further page of up to 4 MiB is of its own; 16 MiB too where no index gives the
/// order.
///
/// A document that the store cannot read hides no other one. A client that knows Keel's additions can
/// ask for the names of such documents beside those that could be read. Any other client gets the
/// documents that could be read, and an error that names the others.
///
/// It answers only requests that are meant for it: see ``Configuration/allowedAuthorities``. That keeps
/// web pages out, and nobody else: **it asks no caller who they are**. Whoever reaches it reads and
/// writes every document of the store, whatever address it listens on, so let it listen on the loopback
/// interface, or put before it what authenticates callers.
public final class StorageServer: ServingHandler {
    let adapter: any StorageAdapter
    let configuration: Configuration
    let transactions: TransactionTable
    /// Tells of changes; nil over a store that keeps no log of them.
    let changes: ChangeService?
    private let isShutDown = Mutex(false)

    /// Creates a server for a store.
    ///
    /// - Parameters:
    ///   - adapter: What keeps the documents.
    ///   - configuration: The limits, and who is answered.
    public init(adapter: any StorageAdapter, configuration: Configuration = Configuration()) {
        self.adapter = adapter
        self.configuration = configuration
        transactions = TransactionTable(configuration)
        guard adapter.capabilities.contains(.changeLog) else {
            changes = nil
            return
        }
        var limits = ChangeService.Configuration()
        limits.mostListeners = configuration.mostListeners
        limits.mostWaitingBytes = configuration.mostWaitingBytes
        limits.clock = configuration.clock
        changes = ChangeService(adapter: adapter, configuration: limits)
    }

    /// Ends what listens and answers every later request with status 503.
    ///
    /// Requests that are being answered are answered to their end.
    public func shutDown() {
        isShutDown.withLock { $0 = true }
        changes?.shutDown()
    }

    // Concurrent: an app's main actor, should it call this, is not where documents are decoded.
    @concurrent
    public func respond(to call: HTTPCall) async -> HTTPReply {
        var reply: HTTPReply
        do throws(ServingFailure) {
            guard !isShutDown.withLock({ $0 }) else { throw .shuttingDown }
            try RequestOrigin(configuration).check(call.head)
            reply = try await answer(call)
        } catch {
            reply = error.reply
        }
        if call.head.method == .head { reply.body = .empty }
        return reply
    }
}
