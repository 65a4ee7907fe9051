import Foundation
import KeelHummingbird
import KeelServing
import KeelStorage
import KeelStorageSQLite
import KeelToolsTestSupport
import Logging
import ServiceLifecycle
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
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = HandlerServer(
            handler,
            logger: logger,
            onListening: { port in listening.yield(port) },
            onShutdown: { handler.shutDown() }
        )
        let group = ServiceGroup(services: [server], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                // If it cannot start, waiting for its port must end.
                defer { listening.finish() }
                try await group.run()
            }
            let port = try #require(await ports.first { _ in true })
            let run = try await PythonClient.run(
                "firestore-client.py",
                ["127.0.0.1:\(port)", carrier.rawValue]
            )
            let failures = run.lines.filter { $0.hasPrefix("FAIL") }
            #expect(failures == [], "\(run.lines.joined(separator: "\n"))")
            #expect(run.exitCode == 0)
            #expect(run.lines.count { $0.hasPrefix("PASS") } >= (carrier == .grpc ? 24 : 21))
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }
}
