import Foundation
import KeelHTTP
import KeelServing
import KeelStorage
import KeelStorageFirestore
import KeelStorageSQLite
import Testing

/// Adapters for servers in this process.
enum Served {
    /// Returns an adapter with Keel's extensions for a server of a store.
    static func keel(_ store: some StorageAdapter) throws -> FirestoreStorageAdapter {
        let address = try #require(URL(string: "http://127.0.0.1"))
        var configuration = FirestoreStorageAdapter.Configuration.keel(address)
        // Generous, for hundreds of concurrent checks on a busy machine.
        configuration.timeout = .seconds(3600)
        return FirestoreStorageAdapter(
            configuration,
            transport: HandlerTransport(StorageServer(adapter: store))
        )
    }

    /// Returns an adapter with the plain protocol for a server of a store.
    static func plain(_ store: some StorageAdapter) -> FirestoreStorageAdapter {
        plain(over: HandlerTransport(StorageServer(adapter: store)))
    }

    /// Returns an adapter with the plain protocol for the server of a transport.
    static func plain(over transport: some HTTPTransport) -> FirestoreStorageAdapter {
        var configuration = FirestoreStorageAdapter.Configuration.emulator(
            host: "127.0.0.1",
            project: "p"
        )
        configuration.timeout = .seconds(3600)
        configuration.capabilities = plainCapabilities
        return FirestoreStorageAdapter(configuration, transport: transport)
    }

    /// The capabilities of Google's Firestore, which listens over WebChannel.
    static let plainCapabilities = FirestoreStorageAdapter.Configuration.allGoogleCapabilities

    /// Runs a body with a store in a temporary file.
    static func withSQLite(_ body: (SQLiteStorageAdapter) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "keel-firestore-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = SQLiteStorageAdapter.Configuration()
        configuration.history = .seconds(3600)
        let store = try SQLiteStorageAdapter(
            at: .file(folder.appending(path: "store.sqlite")),
            configuration: configuration
        )
        try await body(store)
        try store.close()
    }
}
