import HTTPTypes
import KeelHTTP
import KeelTestKit
import KeelWebSocket
import Testing

@Suite("ScriptedWebSocketTransport", .timeLimit(.minutes(1)))
struct ScriptedWebSocketTransportTests {
    private static let target = HTTPRequest(method: .get, scheme: "ws", authority: "a", path: "/")

    @Test("A connection stays open while a task waits for a message, until its closure ends")
    func staysOpen() async throws {
        let transport = ScriptedWebSocketTransport([.connection([], end: .never)])
        let former = try await transport.withConnection(to: Self.target) { connection in
            let reader = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await failure { _ = try await connection.receive() }
            }
            #expect(try await reader.value?.code == .cancelled)
            try await connection.send("still here")
            try await connection.ping()
            return connection
        }
        let error = try await failure { try await former.send("too late") }
        #expect(error?.code == .closed)
        #expect(transport.sent == [.text("still here")])
    }

    @Test("Closing a connection ends its reading, and later calls fail")
    func closing() async throws {
        let transport = ScriptedWebSocketTransport([.connection([], end: .never)])
        try await transport.withConnection(to: Self.target) { connection in
            let reader = Task { try await connection.receive() }
            try await connection.close()
            #expect(try await reader.value == nil)
            let sending = try await failure { try await connection.send("late") }
            #expect(sending?.code == .closed)
            let pinging = try await failure { _ = try await connection.ping() }
            #expect(pinging?.code == .closed)
        }
        #expect(transport.sent.isEmpty)
    }

    @Test("Calls on a connection that has failed throw its error")
    func failing() async throws {
        let lost = WebSocketError(transport: TransportError(.connectionLost))
        let transport = ScriptedWebSocketTransport([.connection([], end: .failure(lost))])
        try await transport.withConnection(to: Self.target) { connection in
            let reading = try await failure { _ = try await connection.receive() }
            let sending = try await failure { try await connection.send("late") }
            let pinging = try await failure { _ = try await connection.ping() }
            #expect([reading, sending, pinging].allSatisfy { $0?.code == lost.code })
        }
    }
}
