#if SQLite
import Foundation
import KeelConformance
package import KeelStorage
package import KeelStorageSQLite
import KeelTestSupport
import Testing

extension SQLiteStorageAdapter: RetainingAdapter {
    package func trim() async throws(StorageError) { try await compact() }
}

@Suite("Conformance of the SQLite adapter")
struct SQLiteConformanceTests {
    /// The capabilities of SQLite without sealing.
    static let capabilities = InMemoryStorageAdapter(history: .seconds(3600)).capabilities

    @Test(arguments: StorageAdapterCheck.applicable(to: capabilities))
    func keeps(_ check: StorageAdapterCheck) async throws {
        try await withStore { try await check.run(on: $0) }
    }

    @Test(arguments: StorageAdapterCheck.applicable(to: capabilities))
    func keepsWhenSealed(_ check: StorageAdapterCheck) async throws {
        try await withStore { configuration in
            configuration.sealing = FakeByteSealing(key: 42)
            configuration.allowsPlaintextSearch = true
        } _: {
            try await check.run(on: $0)
        }
    }

    @Test(
        "Without a history, transactions and held states are still consistent",
        arguments: StorageAdapterCheck.applicable(to: InMemoryStorageAdapter().capabilities)
            .filter { $0.group == .transactions || $0.group == .pointInTime }
    )
    func keepsWithoutHistory(_ check: StorageAdapterCheck) async throws {
        try await withStore {
            $0.history = nil
        } _: {
            try await check.run(on: $0)
        }
    }

    /// The groups that a shorter log could affect.
    private static let followed: Set<StorageAdapterCheck.Group> = [
        .changes, .listeners, .replication, .pointInTime, .idempotency,
    ]

    @Test(
        "Checks of followed changes pass with the shortest log",
        arguments: StorageAdapterCheck.applicable(to: capabilities)
            .filter { followed.contains($0.group) }
    )
    func keepsWithTheShortestLog(_ check: StorageAdapterCheck) async throws {
        try await withStore {
            $0.retention = .init(bytes: 0)
        } _: {
            try await check.run(on: $0)
        }
    }

    @Test("It keeps the promises about retention", arguments: RetentionCheck.all)
    func retains(_ check: RetentionCheck) async throws {
        let wall = ClockWalk.Wall()
        try await withStore { configuration in
            configuration.retention = check.retention
            configuration.history = check.history
            configuration.now = { wall.now }
        } _: { adapter in
            try await check.run(on: adapter, wall)
            #expect(try await adapter.checkIntegrity().isSound)
        }
    }

    @Test(
        "A compacted log reports the same changes as a full one",
        arguments: [true, false],
        1...4
    )
    func compacts(dropsNothing: Bool, turn: Int) async throws {
        let fuzz = CompactedLogFuzz(dropsNothing: dropsNothing)
        try await withStore {
            $0.history = nil
        } _: { first in
            try await fuzz.run(turn: turn) { retention in
                var configuration = SQLiteStorageAdapter.Configuration()
                configuration.retention = retention
                configuration.now = { fuzz.wall.now }
                return try SQLiteStorageAdapter(at: .file(first.path), configuration: configuration)
            } close: {
                try ($0 as? SQLiteStorageAdapter)?.close()
            }
            #expect(try await first.checkIntegrity().isSound)
        }
    }

    @Test("With the shortest log, it agrees with the in-memory adapter on random operations")
    func agreesWithTheShortestLog() async throws {
        try await withStore {
            $0.retention = .init(bytes: 0)
        } _: { adapter in
            try await DifferentialFuzz(operations: TestLength.count(2_000, thorough: 5_000)).run(
                InMemoryStorageAdapter(history: .seconds(3600)),
                against: adapter
            )
        }
    }

    @Test("A sealed store agrees with the in-memory adapter on random operations")
    func agreesWhenSealed() async throws {
        try await withStore { configuration in
            configuration.sealing = FakeByteSealing(key: 42)
            configuration.allowsPlaintextSearch = true
        } _: { adapter in
            try await DifferentialFuzz(operations: TestLength.count(5_000, thorough: 20_000)).run(
                InMemoryStorageAdapter(history: .seconds(3600)),
                against: adapter
            )
        }
    }

    @Test("It agrees with the in-memory adapter on random operations")
    func agreesWithMemory() async throws {
        try await withStore { adapter in
            try await DifferentialFuzz(operations: TestLength.count(5_000, thorough: 20_000)).run(
                InMemoryStorageAdapter(history: .seconds(3600)),
                against: adapter
            )
        }
    }

    private func withStore(
        _ adjust: (inout SQLiteStorageAdapter.Configuration) -> Void = { _ in },
        _ body: (SQLiteStorageAdapter) async throws -> Void
    ) async throws {
        let folder = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = SQLiteStorageAdapter.Configuration()
        configuration.history = .seconds(3600)
        adjust(&configuration)
        let adapter = try SQLiteStorageAdapter(
            at: .file(folder.appendingPathComponent("s.sqlite").path),
            configuration: configuration
        )
        let claimed =
            configuration.history == nil
            ? InMemoryStorageAdapter().capabilities : Self.capabilities
        #expect(adapter.capabilities == claimed)
        try await body(adapter)
        try adapter.close()
    }
}
#endif
