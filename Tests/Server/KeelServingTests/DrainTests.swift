import HTTPTypes
import KeelHTTP
import KeelStorage
import KeelTestKit
import Synchronization
import Testing

@testable import KeelServing

@Suite("A server that drains", .timeLimit(.minutes(1)))
struct DrainTests {
    private let served = Served()

    @Test("It is not healthy, and still answers requests, on connections that then close")
    func requests() async throws {
        let before = try await served.set("notes/1", n: 1)
        #expect(before.head.headerFields[.connection] == nil)
        let drain = Task { await served.server.drain(for: .seconds(20)) }
        await served.clock.waitForSleepers()
        let health = try await served.send(.get, path: "/health")
        #expect(health.status == 503)
        #expect(health.error == "UNAVAILABLE")
        drain.cancel()
        await drain.value
        // The connections are still open.
        let after = try await served.set("notes/1", n: 2)
        #expect(after.status == 200)
        #expect(after.head.headerFields[.connection] == "close")
        served.server.shutDown()
        #expect(try await served.set("notes/1", n: 3).status == 503)
    }

    private final class OpenStream: Sendable {
        let id = Mutex<OpenStreams.ID?>(nil)
    }

    private final class Count: Sendable {
        let value = Atomic(0)
    }

    @Test("Its streams end one after the other, and new ones are refused after that")
    func streams() async throws {
        let streams = served.server.streams
        let ended = Count()
        func open() {
            let stream = OpenStream()
            let id = try? streams.open {
                ended.value.add(1, ordering: .relaxed)
                if let id = stream.id.withLock({ $0 }) { streams.close(id) }
            }
            stream.id.withLock { $0 = id }
        }
        for _ in 0..<40 { open() }
        let drain = Task { await served.server.drain(for: .seconds(20)) }
        for second in 0..<20 {
            await served.clock.waitForSleepers()
            #expect(ended.value.load(ordering: .relaxed) == 2 * second)
            await served.clock.advance(by: .seconds(1))
        }
        await drain.value
        #expect(ended.value.load(ordering: .relaxed) == 40)
        open()
        #expect(ended.value.load(ordering: .relaxed) == 41)
        let late = try await served.send(.get, path: "/sync/all/events")
        #expect(late.status == 503)
    }
}
