import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelCore

@Suite("Deadline timer", .timeLimit(.minutes(1)))
struct DeadlineTimerTests {
    private let clock = TestClock()

    @Test("Many operations share one sleeping task, and each ends at its own deadline")
    func sharesOneSleeper() async throws {
        let timer = DeadlineTimer(clock)
        let gate = Gate()
        let works = (1...200).map { number in
            Task {
                await timer.run(until: .seconds(number % 10 + 1)) { _ = try? await gate.pass() }
                    .wasReached
            }
        }
        // A running operation is registered, and has ended the sleep that it made unnecessary.
        try await waitUntil { gate.begunCount >= 200 }
        #expect(timer.count == 200)
        await clock.waitForSleepers()
        #expect(clock.sleeperCount == 1)
        for _ in 1...10 {
            await clock.advance(by: .seconds(1), onceAsleep: 1)
            let left = works.count - (works.count / 10) * Int(clock.elapsed / .seconds(1))
            try await waitUntil { timer.count <= left }
        }
        for work in works { #expect(await work.value) }
        #expect(timer.count == 0)
    }

    @Test("Work that finishes in time reaches no deadline and leaves no sleeping task")
    func releases() async throws {
        let timer = DeadlineTimer(clock)
        let (value, wasReached) = await timer.run(until: .seconds(1)) { 7 }
        #expect(value == 7)
        #expect(!wasReached)
        try await waitUntil { clock.sleeperCount == 0 }
        #expect(timer.count == 0)
    }

    @Test("A lingering timer sleeps once for a series of operations, at most for its lifetime")
    func lingers() async throws {
        var timer: DeadlineTimer? = DeadlineTimer(clock, lingers: true)
        for number in 1...100 {
            _ = await timer?.run(until: .seconds(60 + number)) {}
        }
        await clock.waitForSleepers()
        #expect(clock.sleeperCount == 1)
        timer = nil
        try await waitUntil { clock.sleeperCount == 0 }
    }

    @Test("A nearer deadline that is added later is met")
    func rearms() async throws {
        let timer = DeadlineTimer(clock)
        let far = Task {
            await timer.run(until: .seconds(100)) { await waitForCancellation() }.wasReached
        }
        await clock.waitForSleepers()
        let near = Task {
            await timer.run(until: .seconds(1)) { await waitForCancellation() }.wasReached
        }
        try await waitUntil { timer.count >= 2 }
        await clock.advance(by: .seconds(1))
        while clock.elapsed < .seconds(1) { await clock.advance(by: .seconds(1)) }
        #expect(await near.value)
        far.cancel()
        #expect(await far.value == false)
    }

    @Test("Only the work is cancelled, not the task that waits for it")
    func sparesTheCaller() async throws {
        let timer = DeadlineTimer(clock)
        let caller = Task {
            let reached = await timer.run(until: .zero) {
                await waitForCancellation()
                return Task.isCancelled
            }
            return (reached.value, reached.wasReached, Task.isCancelled)
        }
        let (workWasCancelled, wasReached, callerWasCancelled) = await caller.value
        #expect(workWasCancelled && wasReached && !callerWasCancelled)
    }

    @Test("A watch is called once at its deadline, and not after its end")
    func watches() async throws {
        let timer = DeadlineTimer(clock)
        let (told, signal) = AsyncStream.makeStream(of: Int.self)
        let kept = timer.watch(until: .seconds(1)) { signal.yield(1) }
        let ended = timer.watch(until: .seconds(1)) { signal.yield(2) }
        timer.watch(until: .seconds(2)) { signal.finish() }
        timer.end(ended)
        var numbers = told.makeAsyncIterator()
        for expected in [1, nil] {
            await clock.advance(by: .seconds(1), onceAsleep: 1)
            // The next sleep begins before the handlers of this deadline have been called.
            #expect(await numbers.next() == expected)
        }
        #expect(kept.wasReached && !ended.wasReached)
        // Ending an expired entry has no effect.
        timer.end(kept)
        #expect(timer.count == 0)
    }

    @Test("A watch can be ended by its own handler and leaves no sleeping task")
    func watchEndsItself() async throws {
        let timer = DeadlineTimer(clock)
        let own = Mutex<DeadlineEntry?>(nil)
        let (told, signal) = AsyncStream.makeStream(of: Void.self)
        let entry = timer.watch(until: .seconds(1)) {
            if let entry = own.withLock({ $0 }) { timer.end(entry) }
            signal.finish()
        }
        own.withLock { $0 = entry }
        await clock.advance(by: .seconds(1), onceAsleep: 1)
        for await _ in told {}
        timer.end(timer.watch(until: .seconds(100)) {})
        try await waitUntil { clock.sleeperCount == 0 }
        #expect(timer.count == 0)
    }

    @Test("The heap returns entries in order after arbitrary removals", arguments: 0..<50)
    func sorts(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var heap = DeadlineHeap()
        var entries = (0..<200).map { _ in
            DeadlineEntry(.milliseconds(Int.random(in: 0...50, using: &random)))
        }
        for entry in entries { heap.insert(entry) }
        for _ in 0..<100 {
            heap.remove(entries.remove(at: .random(in: entries.indices, using: &random)))
        }
        let ends = heap.removeAll(until: .seconds(1)).map(\.end)
        #expect(ends == entries.map(\.end).sorted())
        #expect(heap.isEmpty)
    }
}
