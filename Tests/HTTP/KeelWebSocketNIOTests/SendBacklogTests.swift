#if WebSocket
import Testing

@testable import KeelWebSocketNIO

@Suite("Messages waiting for the socket")
struct SendBacklogTests {
    @Test("Messages that fit do not wait, and empty ones count too")
    func fits() {
        let backlog = SendBacklog(limit: 1000)
        #expect(backlog.enter(400))
        #expect(backlog.enter(400))
        #expect(!backlog.enter(400))
        backlog.leave(400)
        backlog.leave(400)
        #expect(backlog.enter(400))
        backlog.leave(400)
        backlog.leave(400)
        let empty = (0..<100).prefix { _ in backlog.enter(0) }
        #expect(empty.count == 15)
    }

    @Test("Without room, each message waits")
    func none() { #expect(!SendBacklog(limit: 0).enter(0)) }
}
#endif
