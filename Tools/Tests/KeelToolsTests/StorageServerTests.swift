import Foundation
import KeelServing
import KeelStorage
import KeelStorageSQLite
import KeelToolsTestSupport
import Testing

#if PostgreSQL
import KeelStoragePostgreSQL
#endif

@Suite(
    "A store behind Hummingbird with google-cloud-firestore",
    .serialized,
    .timeLimit(.minutes(30)),
    .enabled(if: PythonClient.isPresent, PythonClient.absence)
)
struct StorageServerTests {
    /// What Google's client sends its requests over.
    enum Carrier: String, CaseIterable { case rest, grpc }

    @Test("Google's Python client works unchanged over SQLite", arguments: Carrier.allCases)
    func pythonClient(carrier: Carrier) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "store.sqlite")
        var configuration = SQLiteStorageAdapter.Configuration()
        configuration.history = .seconds(3600)
        let adapter = try SQLiteStorageAdapter(at: .file(file), configuration: configuration)
        try await check(adapter, over: carrier)
    }

    #if PostgreSQL
    @Test("Google's Python client works unchanged over PostgreSQL", arguments: Carrier.allCases)
    func pythonClientOnPostgreSQL(carrier: Carrier) async throws {
        let database = try PostgreSQLServer.shared.get().database()
        var configuration = PostgreSQLStorageAdapter.Configuration()
        configuration.history = .seconds(3600)
        let adapter = try await PostgreSQLStorageAdapter(
            at: .url(database),
            configuration: configuration
        )
        try await check(adapter, over: carrier)
        await adapter.close()
    }
    #endif

    private func check(_ adapter: some StorageAdapter, over carrier: Carrier) async throws {
        let handler = StorageServer(adapter: adapter)
        let shutDown: @Sendable () -> Void = { handler.shutDown() }
        try await RunningServer.with(handler, onShutdown: shutDown) { port in
            let run = try await PythonClient.run(
                "firestore-client.py",
                ["127.0.0.1:\(port)", carrier.rawValue]
            )
            let failures = run.lines.filter { $0.hasPrefix("FAIL") }
            #expect(failures == [], "\(run.lines.joined(separator: "\n"))")
            #expect(run.exitCode == 0)
            #expect(run.lines.count { $0.hasPrefix("PASS") } >= (carrier == .grpc ? 24 : 21))
        }
    }
}
