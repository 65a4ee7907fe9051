import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Pauses of a retrying adapter", .timeLimit(.minutes(1)))
struct RetryPauseTests {
    let clock = TestClock()

    @Test("A retrying adapter waits on its clock between attempts, within the policy's limits")
    func pauses() async throws {
        let policy = RetryPolicy(attempts: 4, baseDelay: .seconds(60), maximumDelay: .seconds(100))
        let flaky = InMemoryStorageAdapter().failing([.fail(), .fail(), .fail()])
        let storage = flaky.retrying(policy, clock: clock)
        _ = try await clock.run { try await storage.read(ReadRequest(.documents([]))) }
        #expect(flaky.callCount == 4)
        #expect(clock.elapsed > .zero)
        #expect(clock.elapsed <= .seconds(60 + 100 + 100))
    }

    @Test("Cancellation during the pause ends the call with the last error")
    func cancellation() async throws {
        let hour = Duration.seconds(3600)
        let policy = RetryPolicy(attempts: 3, baseDelay: hour, maximumDelay: hour)
        let offline = InMemoryStorageAdapter().failing { _ in .fail(.unavailable) }
        let storage = offline.retrying(policy, clock: clock)
        let call = Task { try await storage.read(ReadRequest(.documents([]))) }
        await clock.waitForSleepers()
        call.cancel()

        await expectError(StorageError.self, .unavailable) { try await call.value }
        #expect(offline.callCount == 1)
        #expect(clock.elapsed == .zero)
    }
}
