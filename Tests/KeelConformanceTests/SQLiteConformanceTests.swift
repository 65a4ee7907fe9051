#if SQLite
import Foundation
import KeelConformance
import KeelStorage
import KeelStorageSQLite
import Testing

@Suite("The SQLite adapter keeps the promises of storage adapters")
struct SQLiteConformanceTests {
    /// Everything SQLite claims without sealing.
    static let capabilities = InMemoryStorageAdapter().capabilities

    @Test(arguments: StorageAdapterCheck.applicable(to: capabilities))
    func keeps(_ check: StorageAdapterCheck) async throws {
        try await withStore { try await check.run(on: $0) }
    }

    @Test("It agrees with the memory adapter on twenty thousand random operations")
    func agreesWithMemory() async throws {
        try await withStore { adapter in
            try await DifferentialFuzz().run(InMemoryStorageAdapter(), against: adapter)
        }
    }

    private func withStore(_ body: (SQLiteStorageAdapter) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("keel-conformance-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let adapter = try SQLiteStorageAdapter(
            at: .file(folder.appendingPathComponent("s.sqlite").path)
        )
        #expect(adapter.capabilities == Self.capabilities)
        try await body(adapter)
        try adapter.close()
    }
}
#endif
