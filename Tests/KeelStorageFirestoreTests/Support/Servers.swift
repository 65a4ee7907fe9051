import Foundation
import KeelServing
import KeelStorage
import KeelStorageFirestore
import KeelStorageSQLite
import Testing

/// Adapters on servers in this process.
enum Served {
    /// An adapter that speaks the protocol with Keel's additions to a server of a store.
    static func keel(_ store: some StorageAdapter) throws -> FirestoreStorageAdapter {
        let address = try #require(URL(string: "http://127.0.0.1"))
        var configuration = FirestoreStorageAdapter.Configuration.keel(address)
        // Hundreds of checks at once on a busy machine may each take their time.
        configuration.timeout = .seconds(3600)
        return FirestoreStorageAdapter(
            configuration,
            transport: HandlerTransport(StorageServer(adapter: store))
        )
    }

    /// An adapter that speaks the plain protocol to a server of a store.
    static func plain(_ store: some StorageAdapter) -> FirestoreStorageAdapter {
        var configuration = FirestoreStorageAdapter.Configuration.emulator(
            host: "127.0.0.1",
            project: "p"
        )
        configuration.timeout = .seconds(3600)
        return FirestoreStorageAdapter(
            configuration,
            transport: HandlerTransport(StorageServer(adapter: store))
        )
    }

    /// Runs a body with a store in a file of its own.
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
