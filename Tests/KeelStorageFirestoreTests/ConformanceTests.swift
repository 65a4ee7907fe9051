import KeelConformance
import KeelServing
import KeelStorage
import KeelStorageFirestore
import KeelStorageSQLite
import Testing

@Suite("The promises of storage, kept over the Firestore protocol")
struct ConformanceTests {
    @Test(
        "by a server of Keel's on a store in memory",
        arguments: StorageAdapterCheck.applicable(
            to: FirestoreStorageAdapter.Configuration.allKeelCapabilities
        )
    )
    func keelOnMemory(_ check: StorageAdapterCheck) async throws {
        try await check.run(on: Served.keel(InMemoryStorageAdapter(history: .seconds(3600))))
    }

    @Test(
        "by a server of Keel's on SQLite",
        arguments: StorageAdapterCheck.applicable(
            to: FirestoreStorageAdapter.Configuration.allKeelCapabilities
        )
    )
    func keelOnSQLite(_ check: StorageAdapterCheck) async throws {
        try await Served.withSQLite { try await check.run(on: Served.keel($0)) }
    }

    @Test(
        "by the plain protocol",
        arguments: StorageAdapterCheck.applicable(
            to: FirestoreStorageAdapter.Configuration.allGoogleCapabilities
        )
    )
    func plainOnMemory(_ check: StorageAdapterCheck) async throws {
        try await check.run(on: Served.plain(InMemoryStorageAdapter(history: .seconds(3600))))
    }

    @Test("answers of a server of Keel's are those of its store")
    func sameAsStore() async throws {
        let summary = try await DifferentialFuzz(operations: 3000).run(
            InMemoryStorageAdapter(history: .seconds(3600)),
            against: Served.keel(InMemoryStorageAdapter(history: .seconds(3600)))
        )
        #expect(summary.answeredReads > 100)
    }

    @Test("answers of the plain protocol are those of the store")
    func plainSameAsStore() async throws {
        let summary = try await DifferentialFuzz(operations: 3000).run(
            InMemoryStorageAdapter(history: .seconds(3600)),
            against: Served.plain(InMemoryStorageAdapter(history: .seconds(3600)))
        )
        #expect(summary.answeredReads > 100)
    }

    @Test("a NaN that a store has made has no sign, as none comes over the plain protocol")
    func plainNaN() async throws {
        // This seed adds opposite infinities.
        let summary = try await DifferentialFuzz(seed: 8_770_209_475, operations: 3000).run(
            InMemoryStorageAdapter(history: .seconds(3600)),
            against: Served.plain(InMemoryStorageAdapter(history: .seconds(3600)))
        )
        #expect(summary.operations >= 3000)
    }
}
