import KeelConformance
import KeelStorage
import Testing

@Suite("The memory adapter keeps the promises of storage adapters")
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
        "Without a history, it reads transactions and held states from one moment all the same",
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
        "An adapter without any capability refuses what needs one",
        arguments: StorageAdapterCheck.applicable(to: [])
    )
    func offersNothing(_ check: StorageAdapterCheck) async throws {
        try await check.run(on: ModestStorageAdapter([]))
    }

    @Test("There are at least 250 checks, and no two make one promise")
    func counts() {
        let promises = (StorageAdapterCheck.all + StorageAdapterCheck.all(in: .refusals))
            .map(\.testDescription)
        #expect(promises.count >= 250)
        #expect(Set(promises).count == promises.count)
    }
}
