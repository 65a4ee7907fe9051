#if PostgreSQL
import KeelCore
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Watches of a PostgreSQL store")
struct ChangeWatchTests {
    @Test("A request that has seen a commit before the watch wakes the requests that have not")
    func wakesOthers() throws {
        // No server is there, so that the watch learns of commits only from requests.
        let settings = ConnectionSettings(
            hosts: [["host": "127.0.0.1", "port": "1"]],
            attemptLimit: .seconds(1)
        )
        let signal = Signal()
        let watch = try ChangeWatch(
            settings,
            answerLimit: .seconds(1),
            store: 1,
            raising: signal
        )
        defer { watch.close() }
        #expect(!watch.begin(after: 4))
        let generation = signal.generation
        #expect(!watch.begin(after: 5))
        #expect(signal.generation == generation + 1)
        // Those that come later have seen it, or learn of it at once.
        #expect(!watch.begin(after: 5))
        #expect(watch.begin(after: 4))
        #expect(signal.generation == generation + 1)
        for _ in 0..<4 { watch.end() }
        // Nobody waits who could have missed it.
        #expect(!watch.begin(after: 6))
        #expect(signal.generation == generation + 1)
    }
}
#endif
