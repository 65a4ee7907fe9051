internal import Foundation
internal import KeelCore
public import KeelHTTP
public import KeelStorage
internal import KeelStorageFirestore

#if SQLite
internal import KeelStorageSQLite
#endif

extension KeelConfiguration {
    /// Opens the configured document store.
    ///
    /// - Throws: The error of opening the file; `StorageError/Code/unsupported` for a file without
    ///   the `SQLite` trait, and for a server without a transport or network access.
    public func makeStorage() throws(StorageError) -> StorageClient {
        switch storage {
        case .memory: return client(on: InMemoryStorageAdapter())
        case .server(let address):
            guard allowsNetwork else {
                throw StorageError(
                    .unsupported,
                    "the \(environment) preset does not allow network access"
                )
            }
            guard let transport = NetworkClient.availableTransport() else {
                throw StorageError(
                    .unsupported,
                    "no transport: enable the 'AsyncHTTPClient' trait of the keel package"
                )
            }
            var server = FirestoreStorageAdapter.Configuration.keel(address)
            if let storageTokens { server.authentication = .source(storageTokens) }
            // A file has no connection to lose. Repeated commits have ids, and take effect once.
            return client(
                on: FirestoreStorageAdapter(server, transport: transport).retrying(.attempts(3))
            )
        #if SQLite
        case .applicationSupport(let app):
            return client(on: try SQLiteStorageAdapter(at: .applicationSupport(app)))
        case .file(let url):
            return client(on: try SQLiteStorageAdapter(at: .file(url)))
        #else
        case .applicationSupport, .file:
            throw StorageError(
                .unsupported,
                "a store in a file needs the 'SQLite' trait of the keel package"
            )
        #endif
        }
    }

    /// Returns a client over a custom adapter, with the configuration's schema and strictness.
    public func client(on adapter: some StorageAdapter) -> StorageClient {
        var settings = StorageClient.Configuration(schema: schema)
        switch undeclaredQueries {
        case .scan: break
        case .report(let report): settings.onFullScan = report
        case .refuse: settings.isStrict = true
        }
        guard let observer else { return StorageClient(adapter, configuration: settings) }
        return StorageClient(ReportingStorageAdapter(adapter, observer), configuration: settings)
    }

    /// Returns a client for the app's web service.
    ///
    /// Without an address or network access, every call fails with an explanation.
    public func makeNetwork() -> NetworkClient {
        guard allowsNetwork else {
            return refusing("the \(environment) preset does not allow network access")
        }
        guard let api else { return refusing("the configuration has no web service; set its api") }
        var settings = NetworkClient.Configuration(baseURL: api)
        if let observer { settings.observers.append(ReportingEventObserver(observer)) }
        return NetworkClient(settings)
    }

    private func refusing(_ reason: String) -> NetworkClient {
        .unavailable(TransportError(.invalidRequest, reason, processed: .no))
    }
}
