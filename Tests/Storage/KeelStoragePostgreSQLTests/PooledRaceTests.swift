#if PostgreSQL
import KeelConformance
import KeelStorage
import KeelStoragePostgreSQL
import KeelTestSupport
import Testing

@Suite("Races and random operations behind pgbouncer", .timeLimit(.minutes(60)))
struct PooledRaceTests {
    @Test(
        "The adapter agrees with the in-memory adapter in both modes",
        arguments: PoolerProcess.Mode.allCases
    )
    func agrees(_ mode: PoolerProcess.Mode) async throws {
        try await Pooler.running(mode).withStore {
            $0.history = .seconds(3600)
        } _: { adapter in
            try await DifferentialFuzz(operations: TestLength.count(1_000, thorough: 5_000)).run(
                InMemoryStorageAdapter(history: .seconds(3600)),
                against: adapter
            )
        }
    }

    @Test(
        "In transaction mode, eight writers move amounts, and each consistent state has the same sum"
    )
    func keepsTheSum() async throws {
        let race = AccountRace(changes: TestLength.count(5_000, thorough: 20_000))
        try await Pooler.transaction.value.withStore {
            $0.history = .seconds(3600)
        } _: { adapter in
            try await race.begin(in: adapter)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await race.write(beside: adapter) }
                group.addTask { try await race.follow(adapter) }
                try await group.waitForAll()
            }
        }
    }
}
#endif
