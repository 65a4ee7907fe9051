import Dispatch
import Foundation
import KeelCache
import KeelTestSupport
import Synchronization
import Testing

@Suite("Slow reads of the disk tier")
struct DiskReadQueueTests {
    /// Blocks every read until it is opened.
    private final class Gate: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        private let isClosed = Atomic<Bool>(false)
        private let hasExpired = Atomic<Bool>(false)
        private let arrival: AsyncStream<Void>.Continuation
        let arrivals: AsyncStream<Void>

        init() { (arrivals, arrival) = AsyncStream.makeStream() }

        /// Whether a read timed out.
        var wasInVain: Bool { hasExpired.load(ordering: .relaxed) }

        func pass() {
            guard isClosed.load(ordering: .acquiring) else { return }
            arrival.yield()
            // A safeguard: with every thread blocked, no task could open the gate.
            guard semaphore.wait(timeout: .now() + 60) == .success else {
                return hasExpired.store(true, ordering: .relaxed)
            }
            semaphore.signal()
        }

        func close() { isClosed.store(true, ordering: .releasing) }

        func open() { semaphore.signal() }
    }

    @Test("Tasks continue while more reads wait for the disk than there are task threads")
    func tasksGoOn() async throws {
        let gate = Gate()
        // A read asks for the time between reading and checking the entry.
        let clock = CacheClock(
            now: {
                gate.pass()
                return CacheInstant(microseconds: 1)
            },
            sleep: { _ in }
        )
        let tier = try SimulatedFileSystem().tier { $0.clock = clock }
        try await tier.set("key", [1, 2, 3], expires: CacheInstant(microseconds: 1_000_000))
        gate.close()
        let count = ProcessInfo.processInfo.activeProcessorCount + 2
        let values = try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            for _ in 0..<count { group.addTask { try await tier.value("key") } }
            for await _ in gate.arrivals { break }
            // Each needs a thread of the cooperative pool, one after the other.
            for _ in 0..<100 { await Task {}.value }
            gate.open()
            var values: [[UInt8]?] = []
            for try await value in group { values.append(value) }
            return values
        }
        #expect(values == Array(repeating: [1, 2, 3], count: count))
        #expect(!gate.wasInVain)
    }

    @Test("Found and missing keys are each counted once")
    func counts() async throws {
        let tier = try SimulatedFileSystem().tier()
        try await tier.set("key", [1])
        #expect(try await tier.value("other") == nil)
        #expect(try await tier.usage().missCount == 1)
        #expect(try await tier.value("key") == [1])
        #expect(try await tier.usage().hitCount == 1)
    }
}
