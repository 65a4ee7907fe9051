internal import KeelHTTP
public import KeelStorageAdapting

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The change log of `keel serve`, read as pages and streams of Keel Sync.
extension FirestoreStorageAdapter {
    public func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        try require(.changeLog, for: "a request for changes")
        return try await feed.changes(request)
    }

    /// Returns the feed of a server; sends nothing before the first call.
    static func feed(_ configuration: Configuration, over transport: any HTTPTransport)
        -> SyncFeed
    {
        let server = configuration.server
        let host = server.host(percentEncoded: true) ?? ""
        let name = host.contains(":") ? "[\(host)]" : host
        var settings = SyncFeed.Configuration(
            scheme: server.scheme ?? "http",
            authority: server.port.map { "\(name):\($0)" } ?? name,
            database: configuration.databaseName
        )
        let path = server.path(percentEncoded: true)
        settings.pathPrefix = path.hasSuffix("/") ? String(path.dropLast()) : path
        guard let tokens = configuration.authentication.source(over: transport) else {
            return SyncFeed(transport: transport, configuration: settings)
        }
        let signed = SignedTransport(transport, tokens: tokens)
        return SyncFeed(transport: signed, configuration: settings)
    }
}
