import KeelConformance
import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import Testing

@Suite("Wrong clock of a server")
struct WrongClockTests {
    @Test("A wrong clock only affects the times of documents", .timeLimit(.minutes(5)))
    func walk() async throws {
        let history = Duration.seconds(4 * 3600)
        let walk = ClockWalk(steps: 800)
        let clock = TestClock()
        let store = InMemoryStorageAdapter(
            clock: clock,
            history: history,
            now: { [wall = walk.wall] in wall.now }
        )
        try await walk.run(on: Served.keel(store), history: history) { await clock.advance(by: $0) }
    }

    @Test("A wrong clock does not affect clients without a history")
    func withoutHistory() async throws {
        let walk = ClockWalk(steps: 800)
        let store = InMemoryStorageAdapter(now: { [wall = walk.wall] in wall.now })
        try await walk.run(on: Served.keel(store), history: nil)
    }
}
