#if canImport(Glibc)
import Dispatch
import KeelCore
import KeelTestSupport
import Testing

@testable import class KeelLocation.GPSDConnection

@Suite("Connections to gpsd", .timeLimit(.minutes(2)))
struct GPSDConnectionTests {
    @Test("A connection that is stopped does not wait for the resolver")
    func slowResolver() async {
        let (asked, mayAnswer) = (Signal(), DispatchSemaphore(value: 0))
        let generation = asked.generation
        let resolve: @Sendable (String, UInt16) -> GPSDConnection.Resolution = { _, _ in
            asked.raise()
            if mayAnswer.wait(timeout: .now() + 60) == .timedOut {
                Issue.record("The connection waited for the resolver.")
            }
            return .success([])
        }
        let connection = GPSDConnection(host: "slow", port: 1, tryNumber: 0, resolve: resolve) {
            _,
            _ in
        }
        async let end = connection.run()
        await asked.wait(since: generation)
        connection.stop()
        let outcome = await end
        mayAnswer.signal()
        guard case .stopped = outcome else { return fail("It ended otherwise.") }
    }
}
#endif
