import KeelConformance
import KeelStorage
import Testing

@Suite("Conformance of the in-memory adapter")
struct InMemoryConformanceTests {
    @Test(
        arguments: StorageAdapterCheck.applicable(
            to: InMemoryStorageAdapter(history: .seconds(3600)).capabilities
        )
    )
    func keeps(_ check: StorageAdapterCheck) async throws {
        try await check.run(on: InMemoryStorageAdapter(history: .seconds(3600)))
    }

    @Test(
        "Without a history, transactions and held states are still consistent",
        arguments: StorageAdapterCheck.applicable(to: InMemoryStorageAdapter().capabilities)
            .filter { $0.group == .transactions || $0.group == .pointInTime }
    )
    func keepsWithoutHistory(_ check: StorageAdapterCheck) async throws {
        try await check.run(on: InMemoryStorageAdapter())
    }

    @Test("All checks pass one after another on one shared store")
    func sharesAStore() async throws {
        let adapter = InMemoryStorageAdapter(history: .seconds(3600))
        for check in StorageAdapterCheck.applicable(to: adapter.capabilities) {
            try await check.run(on: adapter)
        }
    }

    @Test(
        "An adapter without capabilities rejects unsupported calls",
        arguments: StorageAdapterCheck.applicable(to: [])
    )
    func offersNothing(_ check: StorageAdapterCheck) async throws {
        try await check.run(on: ModestStorageAdapter([]))
    }

    @Test("There are at least 250 checks with unique promises")
    func counts() {
        let promises = (StorageAdapterCheck.all + StorageAdapterCheck.all(in: .refusals))
            .map(\.testDescription)
        #expect(promises.count >= 250)
        #expect(Set(promises).count == promises.count)
    }
}

@Suite("Differential fuzz")
struct DifferentialFuzzTests {
    @Test("Two in-memory adapters agree, and the same seed produces the same run")
    func agreesWithItself() async throws {
        let fuzz = DifferentialFuzz(operations: 2_000)
        let first = try await fuzz.run(InMemoryStorageAdapter(), against: InMemoryStorageAdapter())
        let second = try await fuzz.run(InMemoryStorageAdapter(), against: InMemoryStorageAdapter())
        #expect(first == second)
        #expect(first.operations >= 2_000)
        #expect(first.refusedBatches > 0 && first.refusedBatches < first.batches / 2)
        #expect(first.answeredReads > first.reads / 4)
        #expect(first.indexedReads > 0)
    }
}
