import HTTPTypes
public import KeelHTTP
public import KeelStorage
import KeelStorageFirestore
import Synchronization

/// A handler that serves a store over Firestore's protocol: over REST, with Keel's extensions, over gRPC, and to web
/// pages over WebChannel.
///
/// ```swift
/// let server = StorageServer(adapter: try SQLiteStorageAdapter(at: file))
/// ```
///
/// Clients of Firestore's REST protocol, version v1, work unchanged, under any project. Every database is the same
/// store, unless the server is created with a store for each. `Documentation/Protocols/FirestoreExtensions.md`
/// describes the extensions. Requests are validated by the rules of `StorageClient`. Clients cannot access the server's
/// own collection; only clients that use the extensions can access the collections of Keel's libraries.
///
/// Google's clients that use gRPC need HTTP/2, with trailers, from the server in front of the handler. The reply to a
/// stream begins before its request has ended.
///
/// Transactions are optimistic and never wait for each other. A commit takes effect only if the transaction's reads are
/// still current; otherwise it fails with `ABORTED`, and clients start over. A token that is too old, or that was
/// evicted because the server's records are limited, fails in the same way. A read-only transaction shows one moment if
/// the store keeps a history or can hold another state. The reads of any other transaction may show different moments;
/// a later read or the commit detects this, even without writes.
///
/// Several servers can share a store, and each request may reach any of them, except requests of a WebChannel session:
/// see ``Configuration/serverName``. The requests of a transaction may do so only if the adapter has
/// `StorageAdapter/sharedRecords`, such as that of PostgreSQL: a client can then repeat a commit at another server if
/// the first one was lost. With other adapters, each server keeps its transactions in memory.
///
/// Long replies of `runQuery`, `batchGet` and `list` are read page by page while they are sent. All pages show the same
/// moment if the store keeps a history, or can hold another state. Otherwise each page shows its own moment: the first
/// has up to 16 MiB of documents, and later ones up to 4 MiB, or 16 MiB if no index provides the order. A reply in a
/// read-write transaction, or to a query limited to its last documents, is read at once; beyond 64 MiB, it fails with
/// `INVALID_ARGUMENT`.
///
/// Documents that the store cannot read do not hide others. A client receives the readable documents, and an error that
/// names the others; with Keel's extensions, it can request their names instead.
///
/// The server answers only requests for its own hosts. It refuses requests from web pages, except pages of these hosts,
/// pages that a server on the same machine delivered, and those of ``Configuration/allowedOrigins``. This protects it
/// from web pages only. **Unless you set** ``Configuration/authenticate``, every caller that can reach the server can
/// read and write every document of the store; then listen on the loopback interface only. With it, every caller that
/// the closure admits can do so: the server has no access rules. Adapters find the principal of a request in
/// `StorageContext`.
///
/// ```swift
/// var configuration = StorageServer.Configuration()
/// configuration.authenticate = { head async throws(StorageError) -> StoragePrincipal? in
///     guard let token = head.headerFields[.authorization],
///         let user = await verify(token)
///     else { throw StorageError(.unauthenticated, "sign in first") }
///     return StoragePrincipal(id: user)
/// }
/// let server = StorageServer(adapter: adapter, configuration: configuration)
/// ```
public final class StorageServer: ServingHandler {
    let adapter: any StorageAdapter
    let configuration: Configuration
    let transactions: TransactionTable
    /// The change service; nil if the store has no change log.
    let changes: ChangeService?
    let streams: OpenStreams
    let listening: ListenHub
    let channels: WebChannels
    /// The servers of the databases besides the default one, by name; nil if every database is the same store.
    private let databases: [String: StorageServer]?
    enum Phase: Comparable { case serving, draining, shutDown }

    let phase = Mutex(Phase.serving)

    /// Creates a server for a store, or for one store for each database.
    ///
    /// The server's health, its schema, logs and analytics belong to the default database, `(default)`.
    ///
    /// - Parameters:
    ///   - adapter: The adapter of the default database's store.
    ///   - databases: The adapters of the stores of all other databases, by name; requests for other names are then
    ///     refused with `NOT_FOUND`. With nil, every name refers to the store of `adapter`.
    ///   - configuration: The settings of the server; limits of numbers, and of bytes, apply to each database.
    public init(
        adapter: any StorageAdapter,
        databases: [String: any StorageAdapter]? = nil,
        configuration: Configuration = Configuration()
    ) {
        self.databases = databases?.mapValues {
            StorageServer(adapter: $0, configuration: configuration)
        }
        self.adapter = adapter
        self.configuration = configuration
        transactions = TransactionTable(adapter, configuration)
        let places = CallerPlaces(
            configuration.maximumListeners,
            perCaller: configuration.listenersPerCaller
        )
        streams = OpenStreams(places)
        channels = WebChannels(places)
        listening = ListenHub(
            adapter: adapter,
            clock: configuration.clock,
            mostWaitingBytes: configuration.maximumBacklogBytes
        )
        guard adapter.capabilities.contains(.changeLog) else {
            changes = nil
            return
        }
        var limits = ChangeService.Configuration()
        limits.maximumListeners = configuration.maximumListeners
        limits.maximumListenersPerCaller = configuration.listenersPerCaller
        limits.maximumBacklogBytes = configuration.maximumBacklogBytes
        limits.clock = configuration.clock
        changes = ChangeService(adapter: adapter, configuration: limits)
    }

    /// Lets clients leave for other servers of the store, before the server ends.
    ///
    /// `/health` is answered with status 503 at once, so that load balancers notice, and replies over HTTP/1.1 close
    /// their connection. Streams end one after the other, so that their clients do not all reconnect at once; after
    /// `time`, all have ended, and new ones are refused. Other requests are answered even then: close the port and the
    /// connections after this call.
    ///
    /// - Parameter time: The time over which streams end. A cancellation ends them all at once.
    public func drain(for time: Duration) async {
        phase.withLock { $0 = max($0, .draining) }
        let steps = time > .zero ? 20 : 0
        for left in (0..<steps).reversed() {
            do { try await configuration.clock.sleep(for: time / steps) } catch { break }
            for server in all {
                server.changes?.end(oneOf: left + 1)
                server.streams.end(oneOf: left + 1)
            }
        }
        endStreams()
    }

    /// Ends all streams and answers later requests with status 503, or `UNAVAILABLE` over gRPC.
    ///
    /// Requests in progress are completed, as are commits of Write streams.
    public func shutDown() {
        phase.withLock { $0 = .shutDown }
        endStreams()
    }

    private func endStreams() {
        for server in all {
            server.changes?.shutDown()
            server.streams.shutDown()
        }
    }

    private var all: [StorageServer] { [self] + (databases ?? [:]).values }

    var hasDatabases: Bool { databases != nil }

    /// Returns the server of a database, such as `projects/p/databases/(default)`.
    ///
    /// - Throws: `NOT_FOUND` if the server has no such database.
    func server(of database: String) throws(ServingFailure) -> StorageServer {
        let name = database.split(separator: "/").last ?? ""
        guard let databases, name != "(default)" else { return self }
        guard let server = databases[String(name)] else {
            // Keel's clients know this from a missing document by the first words, which are Google's.
            let message = "The database “\(name.prefix(100))” does not exist on this server"
            throw ServingFailure(StorageError(.databaseNotFound, message), as: .notFound)
        }
        return server
    }

    // Concurrent, so that documents are not decoded on an app's main actor.
    @concurrent
    public func respond(to call: HTTPCall) async -> HTTPReply {
        let origin = RequestOrigin(configuration)
        let isGRPC = Self.isGRPC(call.head)
        var reply: HTTPReply
        do throws(ServingFailure) {
            guard phase.withLock({ $0 }) != .shutDown else { throw .shuttingDown }
            try origin.check(call.head)
            reply = isGRPC ? try await answerGRPC(call) : try await answer(call)
        } catch {
            reply = isGRPC ? .gRPC([], GRPCStatus(error)) : error.reply
        }
        origin.share(&reply, with: call.head)
        if call.head.method == .head { reply.body = .empty }
        if phase.withLock({ $0 }) != .serving { reply.head.headerFields[.connection] = "close" }
        return reply
    }
}
