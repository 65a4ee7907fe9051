import KeelCore
import KeelTestKit
import Testing

@Suite("Retrying a call", .timeLimit(.minutes(1)))
struct RetryingTests {
    private struct Flop: Error, Equatable { var number: Int }

    /// A constant generator, which makes the pauses predictable.
    private struct Constant: RandomNumberGenerator {
        func next() -> UInt64 { .max / 2 }
    }

    private let clock = TestClock()

    @Test("The hook receives each error and pause, and the generator draws the pauses")
    func tellsPauses() async throws {
        let policy = RetryPolicy(attempts: 4, baseDelay: .seconds(1), maximumDelay: .seconds(3))
        let clock = clock
        let seen = try await clock.run {
            var generator = Constant()
            var seen: [(Int, Duration)] = []
            let result = try await withRetry(
                policy,
                clock: clock,
                using: &generator,
                onRetry: { (_: Flop, attempt: Int, pause: Duration) in
                    seen.append((attempt, pause))
                },
                shouldRetry: { _ in true },
                operation: { (attempt: Int) async throws(Flop) -> Int in
                    guard attempt == 4 else { throw Flop(number: attempt) }
                    return attempt
                }
            )
            #expect(result == 4)
            return seen
        }
        #expect(seen.map(\.0) == [1, 2, 3])
        let pauses = seen.map(\.1)
        for (pause, end) in zip(pauses, [Duration.seconds(1), .seconds(2), .seconds(3)]) {
            #expect(abs(pause / end - 0.5) < 0.001)
        }
        #expect(clock.elapsed == pauses.reduce(.zero, +))
    }

    @Test(
        "A multiplier of any size leads to the maximum delay",
        arguments: [1e30, Double.greatestFiniteMagnitude, Double.infinity]
    )
    func growsWithoutOverflow(multiplier: Double) {
        let policy = RetryPolicy(maximumDelay: .seconds(3), multiplier: multiplier)
        #expect(policy.maximumDelay(before: 1) == .milliseconds(100))
        #expect(policy.maximumDelay(before: 2) == .seconds(3))
        let immediate = RetryPolicy(baseDelay: .zero, multiplier: multiplier)
        #expect(immediate.maximumDelay(before: 5) == .zero)
    }

    @Test("A multiplier that is set to less than 1, or to no number, counts as 1")
    func growsByOneAtLeast() {
        var policy = RetryPolicy(baseDelay: .seconds(1))
        for multiplier in [0, -2, Double.nan] {
            policy.multiplier = multiplier
            #expect(policy.maximumDelay(before: 5) == .seconds(1))
        }
    }

    @Test("A pause that the server asks for is honored, even beyond the maximum")
    func keepsAskedPauses() async throws {
        let policy = RetryPolicy(attempts: 2, baseDelay: .zero, maximumDelay: .seconds(1))
        let clock = clock
        try await clock.run {
            try await withRetry(
                policy,
                clock: clock,
                serverDelay: { (_: Flop) in .seconds(40) },
                shouldRetry: { _ in true },
                operation: { (attempt: Int) async throws(Flop) in
                    if attempt == 1 { throw Flop(number: 1) }
                }
            )
        }
        #expect(clock.elapsed == .seconds(40))
    }

    @Test("No attempt starts after the total limit")
    func keepsTotalLimit() async throws {
        let policy = RetryPolicy(attempts: 10, baseDelay: .zero, totalLimit: .seconds(25))
        let clock = clock
        let error = await #expect(throws: Flop.self) {
            try await clock.run {
                try await withRetry(
                    policy,
                    clock: clock,
                    serverDelay: { (_: Flop) in .seconds(10) },
                    shouldRetry: { _ in true },
                    operation: { (attempt: Int) async throws(Flop) in throw Flop(number: attempt) }
                )
            }
        }
        #expect(error == Flop(number: 3))
        #expect(clock.elapsed == .seconds(20))
    }

    @Test("Cancelling ends the pause at once with the last error")
    func cancels() async throws {
        let policy = RetryPolicy(attempts: 5, baseDelay: .seconds(1))
        let clock = clock
        let call = Task {
            try await withRetry(
                policy,
                clock: clock,
                serverDelay: { (_: Flop) in .seconds(3600) },
                shouldRetry: { _ in true },
                operation: { (attempt: Int) async throws(Flop) in throw Flop(number: attempt) }
            )
        }
        await clock.waitForSleepers()
        call.cancel()
        await #expect(throws: Flop(number: 1)) { try await call.value }
        #expect(clock.elapsed == .zero)
    }
}
