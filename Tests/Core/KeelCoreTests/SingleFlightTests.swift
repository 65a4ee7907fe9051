import KeelCore
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Single flight", .timeLimit(.minutes(1)))
struct SingleFlightTests {
    private struct Refusal: Error, Equatable {}

    private let flights = SingleFlight<String, Int>()
    private let gate = Gate()

    private func start(_ count: Int) -> [Task<Int, any Error>] {
        (0..<count).map { _ in
            Task { [flights, gate] in try await flights.run("key") { try await gate.pass() } }
        }
    }

    @Test("A thousand callers with one key make one call")
    func shares() async throws {
        let callers = start(1000)
        try await waitUntil { flights.waiterCount(of: "key") == 1000 }
        gate.open()
        for caller in callers { #expect(try await caller.value == 1) }
        #expect(gate.begunCount == 1)
        #expect(flights.count == 0)
    }

    @Test("If 999 of a thousand callers are cancelled, the last one still gets its value")
    func survivesCancellation() async throws {
        let callers = start(1000)
        try await waitUntil { flights.waiterCount(of: "key") == 1000 }
        for caller in callers.dropLast() { caller.cancel() }
        for caller in callers.dropLast() {
            await #expect(throws: CancellationError.self) { try await caller.value }
        }
        #expect(flights.waiterCount(of: "key") == 1)
        #expect(gate.cancelledCount == 0)
        gate.open()
        #expect(try await callers.last?.value == 1)
    }

    @Test("If all callers are cancelled, the call is cancelled and removed")
    func cancelsWithTheLast() async throws {
        let callers = start(100)
        try await waitUntil { flights.waiterCount(of: "key") == 100 && gate.begunCount == 1 }
        for caller in callers { caller.cancel() }
        for caller in callers {
            await #expect(throws: CancellationError.self) { try await caller.value }
        }
        try await waitUntil { gate.cancelledCount == 1 }
        #expect(flights.count == 0)
    }

    @Test("A caller that arrives after the others have left starts its own call")
    func startsAnew() async throws {
        let first = start(1)[0]
        try await waitUntil { gate.begunCount == 1 }
        first.cancel()
        _ = await first.result
        let second = start(1)[0]
        try await waitUntil { gate.begunCount == 2 }
        gate.open()
        #expect(try await second.value == 2)
        #expect(try await flights.run("key") { 3 } == 3)
    }

    @Test("An error reaches all callers")
    func sharesErrors() async throws {
        let callers = (0..<10).map { _ in
            Task { [flights, gate] in
                try await flights.run("key") {
                    _ = try await gate.pass()
                    throw Refusal()
                }
            }
        }
        try await waitUntil { flights.waiterCount(of: "key") == 10 }
        gate.open()
        for caller in callers {
            await #expect(throws: Refusal.self) { try await caller.value }
        }
    }

    @Test("Keys do not wait for each other, and a joining caller is notified")
    func separatesKeys() async throws {
        let waiting = start(1)[0]
        try await waitUntil { gate.begunCount == 1 }
        #expect(try await flights.run("other") { 7 } == 7)
        let joined = Mutex(false)
        async let second = flights.run(
            "key",
            onJoin: { joined.withLock { $0 = true } },
            operation: { 0 }
        )
        try await waitUntil { joined.withLock { $0 } }
        gate.open()
        #expect(try await second == 1)
        #expect(try await waiting.value == 1)
    }

    @Test("A caller that is already cancelled starts nothing")
    func refusesTheCancelled() async throws {
        let caller = Task { [flights, gate] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await flights.run("key") { try await gate.pass() }
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(gate.begunCount == 0)
        #expect(flights.count == 0)
    }
}
