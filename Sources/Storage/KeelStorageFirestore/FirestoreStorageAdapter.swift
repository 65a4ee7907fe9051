internal import KeelCore
public import KeelHTTP
public import KeelStorageAdapting

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// An adapter for Google's Firestore, its emulators and `keel serve`, over Firestore's REST protocol.
///
/// ```swift
/// let server = FirestoreStorageAdapter.Configuration.keel(address, authentication: .token(token))
/// let storage = StorageClient(
///     FirestoreStorageAdapter(server, transport: transport).retrying(.attempts(3))
/// )
/// ```
///
/// The protocol is version v1 of firebase.google.com/docs/firestore/reference/rest.
/// `Documentation/Protocols/FirestoreExtensions.md` describes the extensions of Keel's server; the module's article
/// compares the servers.
///
/// All requests of a call, a transaction, an iteration or a series of pages are for one user: if another one signs in
/// meanwhile, the rest fails with `unauthenticated`.
///
/// The adapter repeats a request only after its token was refused. The `effect` of an error says whether a commit may
/// have been applied.
public struct FirestoreStorageAdapter: StorageAdapter {
    /// The ways in which an adapter learns of changes.
    public enum Listening: String, Sendable, Hashable {
        /// The server sends changes over an open connection.
        case eventStream
        /// The server sends the changes of each query and document over an open connection.
        ///
        /// If the server does not support the connection, the client polls.
        case watch
        /// The client repeats its queries at intervals.
        case polling
    }

    /// The adapter's settings.
    public let configuration: Configuration

    let connection: FirestoreConnection
    let encoding: FirestoreEncoding
    let decoding: FirestoreDecoding
    /// Over streams that stay open between calls.
    let feed: SyncFeed
    /// Over a channel that stays open between calls.
    let watch: WatchFeed

    /// Creates an adapter; sends nothing before the first call.
    ///
    /// - Parameters:
    ///   - configuration: The server, the database and the settings.
    ///   - transport: The transport of all requests, including token requests of a service account.
    public init(_ configuration: Configuration, transport: any HTTPTransport) {
        self.configuration = configuration
        connection = FirestoreConnection(configuration, transport: transport)
        feed = Self.feed(configuration, over: transport)
        watch = Self.watch(configuration, over: transport)
        let database = configuration.databaseName
        encoding = FirestoreEncoding(database: database, isExtended: configuration.isExtended)
        decoding = FirestoreDecoding(database: database, isExtended: configuration.isExtended)
    }

    public var capabilities: StorageCapabilities { configuration.capabilities }

    /// The way in which listeners of this adapter's clients learn of changes.
    public var listening: Listening {
        if capabilities.contains(.changeLog) { return .eventStream }
        return capabilities.contains(.queryChanges) ? .watch : .polling
    }

    /// Declares a schema to `keel serve`; without effect on other servers.
    ///
    /// The indexes of Google's Firestore are deployed with Google's tools.
    public func prepare(_ schema: StorageSchema) async throws(StorageError) {
        guard configuration.isExtended, schema != StorageSchema(),
            !capabilities.isDisjoint(with: [.declaredIndexes, .textSearch])
        else { return }
        _ = try await connection.reply(
            to: FirestoreCall(post: ["keel", "v1", "schema"], FirestoreEncoding.schema(schema))
        )
    }

    // MARK: Common

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

extension FirestoreStorageAdapter {
    public func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        if request.query != nil {
            try require(.queryChanges, for: "a request for a query’s changes")
        }
        guard capabilities.contains(.changeLog) else {
            try require(.queryChanges, for: "a request for changes")
            return try await watch.changes(request)
        }
        guard let query = request.query else { return try await feed.changes(request) }
        return try await LoggedResult(query, of: self).page(request)
    }

    static func feed(_ configuration: Configuration, over transport: any HTTPTransport)
        -> SyncFeed
    {
        var settings = SyncFeed.Configuration(
            scheme: configuration.server.scheme ?? "http",
            authority: configuration.authority,
            database: configuration.databaseName
        )
        settings.pathPrefix = configuration.pathPrefix
        guard let tokens = configuration.authentication.source(over: transport) else {
            return SyncFeed(transport: transport, configuration: settings)
        }
        let origins = HTTPOrigin(configuration.server).map { [$0] } ?? []
        let signed = SignedTransport(transport, tokens: tokens, at: Set(origins))
        return SyncFeed(
            transport: signed,
            configuration: settings,
            identity: { await tokens.identity }
        )
    }

    private static func watch(
        _ configuration: Configuration,
        over transport: any HTTPTransport
    ) -> WatchFeed {
        var channel = WebChannel.Configuration(
            scheme: configuration.server.scheme ?? "http",
            authority: configuration.authority,
            database: configuration.databaseName,
            limit: configuration.maximumReplySize
        )
        channel.pathPrefix = configuration.pathPrefix
        var settings = WatchConnection.Configuration(channel: channel)
        settings.timeout = configuration.timeout
        let tokens = configuration.authentication.source(over: transport)
        return WatchFeed(WatchConnection(settings, transport: transport, tokens: tokens))
    }
}
