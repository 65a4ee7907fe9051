import KeelConformance
import KeelServing
import KeelStorage
import KeelStorageFirestore
import KeelStorageSQLite
import Testing

@Suite("Storage conformance over the Firestore protocol")
struct ConformanceTests {
    @Test(
        "Keel server on an in-memory store",
        arguments: StorageAdapterCheck.applicable(
            to: FirestoreStorageAdapter.Configuration.allKeelCapabilities
        )
    )
    func keelOnMemory(_ check: StorageAdapterCheck) async throws {
        try await check.run(on: Served.keel(InMemoryStorageAdapter(history: .seconds(3600))))
    }

    @Test(
        "Keel server on SQLite",
        arguments: StorageAdapterCheck.applicable(
            to: FirestoreStorageAdapter.Configuration.allKeelCapabilities
        )
    )
    func keelOnSQLite(_ check: StorageAdapterCheck) async throws {
        try await Served.withSQLite { try await check.run(on: Served.keel($0)) }
    }

    @Test("Plain protocol", arguments: StorageAdapterCheck.applicable(to: Served.plainCapabilities))
    func plainOnMemory(_ check: StorageAdapterCheck) async throws {
        try await check.run(on: Served.plain(InMemoryStorageAdapter(history: .seconds(3600))))
    }

    @Test("A Keel server returns the same results as its store")
    func sameAsStore() async throws {
        let summary = try await DifferentialFuzz(operations: 3000).run(
            InMemoryStorageAdapter(history: .seconds(3600)),
            against: Served.keel(InMemoryStorageAdapter(history: .seconds(3600)))
        )
        #expect(summary.answeredReads > 100)
    }

    @Test("The plain protocol returns the same results as the store")
    func plainSameAsStore() async throws {
        let summary = try await DifferentialFuzz(operations: 3000).run(
            InMemoryStorageAdapter(history: .seconds(3600)),
            against: Served.plain(InMemoryStorageAdapter(history: .seconds(3600)))
        )
        #expect(summary.answeredReads > 100)
    }

    @Test("A NaN computed by a store has no sign")
    func plainNaN() async throws {
        // This seed adds opposite infinities.
        let summary = try await DifferentialFuzz(seed: 8_770_209_475, operations: 3000).run(
            InMemoryStorageAdapter(history: .seconds(3600)),
            against: Served.plain(InMemoryStorageAdapter(history: .seconds(3600)))
        )
        #expect(summary.operations >= 3000)
    }
}
