import KeelTestKit
import Testing

@Suite("Test clock", .timeLimit(.minutes(1)))
struct TestClockTests {
    let clock = TestClock()

    @Test("Time stands still until it is advanced")
    func standsStill() async {
        #expect(clock.elapsed == .zero)
        await clock.advance(by: .seconds(3))
        await clock.advance(by: .milliseconds(500))
        #expect(clock.elapsed == .milliseconds(3500))
    }

    @Test("Sleepers wake in the order of their deadlines, each at its time")
    func order() async {
        let clock = clock
        await withTaskGroup(of: Int.self) { group in
            for seconds in [3, 1, 2] {
                group.addTask {
                    try? await clock.sleep(for: .seconds(seconds))
                    return seconds
                }
            }
            await clock.waitForSleepers(3)
            for second in 1...3 {
                await clock.advance(by: .seconds(1))
                #expect(clock.sleeperCount == 3 - second)
                #expect(await group.next() == second)
            }
        }
    }

    @Test("A sleeper stays asleep until its deadline")
    func notYet() async {
        let sleeper = Task { try await clock.sleep(for: .seconds(2)) }
        await clock.waitForSleepers()
        await clock.advance(by: .milliseconds(1999))
        #expect(clock.sleeperCount == 1)
        await clock.advance(by: .milliseconds(1))
        #expect(clock.sleeperCount == 0)
        await #expect(throws: Never.self) { try await sleeper.value }
    }

    @Test("Sleeping until a past time returns at once")
    func past() async throws {
        await clock.advance(by: .seconds(5))
        try await clock.sleep(until: TestClock.Instant(offset: .seconds(4)))
        try await clock.sleep(for: .zero)
    }

    @Test("A cancelled sleeper wakes with an error and is removed")
    func cancellation() async {
        let sleeper = Task { try await clock.sleep(for: .seconds(2)) }
        await clock.waitForSleepers()
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.sleeperCount == 0)
        await clock.advance(by: .seconds(2))
    }

    @Test("A task that is cancelled before it sleeps does not sleep")
    func cancelledBefore() async {
        let clock = clock
        let sleeper = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(2))
        }
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test("Running continues until nothing sleeps")
    func run() async {
        let clock = clock
        let loop = Task {
            for _ in 1...10 { try await clock.sleep(for: .seconds(1)) }
            return clock.elapsed
        }
        await clock.waitForSleepers()
        while clock.sleeperCount > 0 { await clock.run() }
        #expect(clock.elapsed <= .seconds(10))
        // The loop may be late with `run()`, but never with `run(_:)`.
        let other = TestClock()
        let elapsed = try? await other.run {
            for _ in 1...10 { try await other.sleep(for: .seconds(1)) }
            return other.elapsed
        }
        #expect(elapsed == .seconds(10))
        loop.cancel()
    }

    @Test("Running an operation rethrows its error")
    func runThrows() async {
        struct Failure: Error {}
        let clock = clock
        await #expect(throws: Failure.self) {
            try await clock.run {
                try await clock.sleep(for: .seconds(1))
                throw Failure()
            }
        }
        #expect(clock.elapsed == .seconds(1))
    }

    @Test("Waiting for sleepers ends when its task is cancelled")
    func cancelledWait() async {
        let wait = Task { await clock.waitForSleepers(2) }
        wait.cancel()
        await wait.value
        #expect(clock.sleeperCount == 0)
    }

    @Test("A hundred tasks that sleep and are cancelled concurrently resume once each")
    func race() async {
        let clock = clock
        for _ in 1...20 {
            await withTaskGroup { group in
                for index in 0..<100 {
                    group.addTask { try? await clock.sleep(for: .milliseconds(index + 1)) }
                }
                group.addTask { await clock.advance(by: .milliseconds(50)) }
                group.cancelAll()
            }
        }
        #expect(clock.sleeperCount == 0)
    }
}
