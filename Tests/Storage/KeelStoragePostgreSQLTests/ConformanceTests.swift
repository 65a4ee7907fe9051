#if PostgreSQL
import KeelConformance
import KeelStorage
import KeelStoragePostgreSQL
import KeelTestSupport
import Testing

@Suite("Conformance of the PostgreSQL adapter")
struct ConformanceTests {
    /// The capabilities of PostgreSQL without sealing: those of the SQLite and the in-memory adapter.
    static let capabilities = InMemoryStorageAdapter(history: .seconds(3600)).capabilities

    @Test(arguments: StorageAdapterCheck.applicable(to: capabilities))
    func keeps(_ check: StorageAdapterCheck) async throws {
        try await PostgreSQLServer.withStore {
            $0.history = .seconds(3600)
        } _: {
            #expect($0.capabilities == Self.capabilities)
            try await check.run(on: $0)
        }
    }

    @Test(
        "A sealed store keeps the promises about documents, values and batches",
        arguments: StorageAdapterCheck.applicable(to: capabilities).filter {
            [.documents, .values, .batches, .idempotency, .indexes].contains($0.group)
        }
    )
    func keepsWhenSealed(_ check: StorageAdapterCheck) async throws {
        try await PostgreSQLServer.withStore { configuration in
            configuration.history = .seconds(3600)
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
        try await PostgreSQLServer.withStore { try await check.run(on: $0) }
    }

    /// The groups that a shorter log could affect.
    private static let followed: Set<StorageAdapterCheck.Group> = [
        .changes, .listeners, .replication, .pointInTime, .idempotency,
    ]

    @Test(
        "Checks of followed changes pass with the shortest log",
        arguments: StorageAdapterCheck.applicable(to: capabilities.subtracting(.pointInTimeReads))
            .filter { followed.contains($0.group) }
    )
    func keepsWithTheShortestLog(_ check: StorageAdapterCheck) async throws {
        // Without a history: the position of a past state is another one once the log is compacted.
        try await PostgreSQLServer.withStore {
            $0.retention = .init(bytes: 0)
        } _: {
            try await check.run(on: $0)
        }
    }

    @Test("With the shortest log, the adapter agrees with the in-memory adapter")
    func agreesWithTheShortestLog() async throws {
        try await PostgreSQLServer.withStore {
            $0.history = .seconds(3600)
            $0.retention = .init(bytes: 0)
        } _: { adapter in
            try await DifferentialFuzz(operations: TestLength.count(1_000, thorough: 5_000)).run(
                InMemoryStorageAdapter(history: .seconds(3600)),
                against: adapter
            )
        }
    }

    @Test("The adapter agrees with the in-memory adapter on random operations")
    func agrees() async throws {
        try await PostgreSQLServer.withStore {
            $0.history = .seconds(3600)
        } _: { adapter in
            try await DifferentialFuzz(operations: TestLength.count(2_000, thorough: 20_000)).run(
                InMemoryStorageAdapter(history: .seconds(3600)),
                against: adapter
            )
        }
    }
}
#endif
