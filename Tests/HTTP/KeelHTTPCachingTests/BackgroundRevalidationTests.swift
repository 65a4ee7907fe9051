import KeelCache
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelHTTPCaching

@Suite("Revalidations in the background")
struct BackgroundRevalidationTests {
    @Test("A canceled revalidation that ends late leaves the next one of its response in place")
    func lateEnd() {
        let clock = TestClock()
        let loop = SeededLoop(seed: 1, clock)
        let revalidations = BackgroundRevalidations(
            limit: 4,
            timeout: .seconds(30),
            clock: .following(clock)
        )
        let subject = ValidationFlight.Subject(
            list: [1],
            body: StoredResponse.BodyID(high: 1, low: 1)
        )
        let late = Mutex<CheckedContinuation<Void, Never>?>(nil)
        let gate = Gate()
        let starts = Mutex<[Bool]>([])
        let ending = loop.run {
            let first = revalidations.start(subject) {
                // Its cancellation has no effect until the test lets it end.
                await withCheckedContinuation { continuation in
                    late.withLock { $0 = continuation }
                }
            }
            await loop.quiet()
            revalidations.cancelAll()
            let second = revalidations.start(subject) { _ = try? await gate.pass() }
            await loop.quiet()
            late.withLock { $0.take() }?.resume()
            await loop.quiet()
            let third = revalidations.start(subject) {}
            starts.withLock { $0 = [first, second, third] }
            revalidations.cancelAll()
        }
        guard case .returned = ending else { return fail("\(ending)") }
        #expect(starts.withLock { $0 } == [true, true, false])
    }
}
