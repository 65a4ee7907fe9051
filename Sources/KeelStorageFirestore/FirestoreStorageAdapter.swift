public import KeelHTTP
public import KeelStorageAdapting

/// An adapter over Firestore's REST protocol: for Google's Firestore, its emulators, `keel serve`.
///
/// ```swift
/// let server = FirestoreStorageAdapter.Configuration.keel(address, authentication: .token(token))
/// let storage = StorageClient(
///     FirestoreStorageAdapter(server, transport: transport).retrying(.attempts(3))
/// )
/// ```
///
/// The protocol is version v1 of firebase.google.com/docs/firestore/reference/rest. What Keel's own
/// server offers beyond it, a change log and batches that take effect once among others, is
/// described in `Documentation/Protocols/FirestoreExtensions.md`; the table in the module's article
/// says what is left without it.
///
/// Nothing is repeated here but a request whose token was refused. An error says through its
/// `effect` whether a commit may have been applied, so that `retrying(_:)` never applies it twice.
public struct FirestoreStorageAdapter: StorageAdapter {
    /// How an adapter learns of changes.
    public enum Listening: String, Sendable, Hashable {
        /// The server tells them, over a connection that is kept open.
        case eventStream
        /// The front asks its queries again, at intervals.
        case polling
    }

    /// The adapter's settings.
    public let configuration: Configuration

    let connection: FirestoreConnection
    let encoding: FirestoreEncoding
    let decoding: FirestoreDecoding
    /// What has changed, over a stream that stays open between calls; copies of the adapter share it.
    let feed: SyncFeed

    /// Creates an adapter; nothing is sent before its first call.
    ///
    /// - Parameters:
    ///   - configuration: Which database of which server.
    ///   - transport: What carries the requests, and those for tokens of a service account.
    public init(_ configuration: Configuration, transport: any HTTPTransport) {
        self.configuration = configuration
        connection = FirestoreConnection(configuration, transport: transport)
        feed = Self.feed(configuration, over: transport)
        let database = configuration.databaseName
        encoding = FirestoreEncoding(database: database, isExtended: configuration.isExtended)
        decoding = FirestoreDecoding(database: database, isExtended: configuration.isExtended)
    }

    public var capabilities: StorageCapabilities { configuration.capabilities }

    /// How listeners of this adapter's clients learn of changes.
    public var listening: Listening { capabilities.contains(.changeLog) ? .eventStream : .polling }

    /// Makes a server of Keel's ready for a schema.
    ///
    /// Google's indexes are deployed with its own tools: there a schema changes nothing.
    public func prepare(_ schema: StorageSchema) async throws(StorageError) {
        guard configuration.isExtended, schema != StorageSchema(),
            !capabilities.isDisjoint(with: [.declaredIndexes, .textSearch])
        else { return }
        _ = try await connection.reply(
            to: FirestoreCall(post: ["keel", "v1", "schema"], FirestoreEncoding.schema(schema))
        )
    }

    // MARK: What all calls share

    func require(
        _ needed: StorageCapabilities,
        for what: String
    ) throws(StorageError) {
        guard !capabilities.isSuperset(of: needed) else { return }
        throw StorageError(
            .unsupported,
            "\(what) needs a server that offers \(needed.subtracting(capabilities))"
        )
    }

    /// Reads a reply; that it has not the form it should have is the server's fault.
    func decoded<Value>(
        isWrite: Bool = false,
        _ decode: (FirestoreDecoding) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        do throws(StorageError) {
            return try decode(decoding)
        } catch {
            throw .invalidReply(error.message, isWrite: isWrite)
        }
    }
}
