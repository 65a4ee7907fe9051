import KeelConformance
import KeelCore
import KeelStorage
import KeelTestKit
import Testing

#if Observability
import KeelStorageObservability
#endif

/// Every decorator is an adapter and keeps the promises of the adapter that it wraps.
@Suite("Conformance of decorators", .serialized)
struct DecoratorConformanceTests {
    private static let checks = StorageAdapterCheck.applicable(
        to: InMemoryStorageAdapter(history: .seconds(3600)).capabilities
    )

    @Test(arguments: checks)
    func retrying(_ check: StorageAdapterCheck) async throws {
        try await check.run(
            on: InMemoryStorageAdapter(history: .seconds(3600)).retrying(.attempts(3))
        )
    }

    @Test(arguments: checks)
    func migrating(_ check: StorageAdapterCheck) async throws {
        try await check.run(
            on: InMemoryStorageAdapter(history: .seconds(3600)).migrating(DocumentMigrations([]))
        )
    }

    @Test(arguments: checks)
    func recorded(_ check: StorageAdapterCheck) async throws {
        try await check.run(on: InMemoryStorageAdapter(history: .seconds(3600)).recorded())
    }

    @Test(arguments: checks)
    func withoutFaults(_ check: StorageAdapterCheck) async throws {
        try await check.run(on: InMemoryStorageAdapter(history: .seconds(3600)).failing([]))
    }

    @Test(arguments: checks)
    func mirrored(_ check: StorageAdapterCheck) async throws {
        let mirrored = InMemoryStorageAdapter(history: .seconds(3600)).mirrored(
            to: InMemoryStorageAdapter(history: .seconds(3600))
        ) { event in
            Issue.record("\(event)")
        }
        try await check.run(on: mirrored)
        // The copies of a call that a check cancels wait for the next commit.
        try await StorageClient(mirrored).setDocument("checks/last", [:])
        #expect(mirrored.waitingCount == 0)
    }

    #if Observability
    @Test(arguments: checks)
    func observed(_ check: StorageAdapterCheck) async throws {
        try await check.run(
            on: InMemoryStorageAdapter(history: .seconds(3600)).observed(label: "checks")
        )
    }
    #endif
}
