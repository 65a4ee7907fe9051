import KeelCore
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("concurrentMap", .timeLimit(.minutes(1)))
struct ConcurrentMapTests {
    private struct Broken: Error {}

    @Test(
        "Results have the order of the elements, however long each call takes",
        arguments: [0, 1, 3, 100, .max]
    )
    func keepsOrder(limit: Int) async {
        let results = await (0..<50).concurrentMap(limit: limit) { number -> Int in
            for _ in 0..<(50 - number) { await Task.yield() }
            return number * 2
        }
        #expect(results == (0..<50).map { $0 * 2 })
    }

    @Test("The number of concurrent calls stays within the limit")
    func isBounded() async throws {
        let state = Mutex((now: 0, most: 0))
        _ = try await AnySequence(0..<40).map { $0 }.concurrentMap(limit: 4) { number in
            state.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
            }
            // The first one waits for another, however late that one is scheduled.
            try await waitUntil { state.withLock({ $0.most }) >= 2 }
            for _ in 0..<10 { await Task.yield() }
            state.withLock { $0.now -= 1 }
        }
        #expect(state.withLock { $0.most } <= 4)
        #expect(state.withLock { $0.most } > 1)
    }

    @Test("The first error cancels running calls and starts no more")
    func stopsAtErrors() async {
        let started = Counter()
        await #expect(throws: Broken.self) {
            try await (0..<100).concurrentMap(limit: 2) { number throws(Broken) -> Int in
                started.next()
                if number == 5 { throw Broken() }
                if number > 5 { _ = try? await Gate().pass() }
                return number
            }
        }
        #expect(started.count <= 7)
    }

    @Test("An empty sequence has no results, and optional results are kept as they are")
    func edges() async {
        #expect(await [Int]().concurrentMap(limit: 2) { $0 }.isEmpty)
        let optionals = await [1, 2].concurrentMap(limit: 2) { $0 == 1 ? nil : $0 }
        #expect(optionals == [nil, 2])
    }
}
