#if WebSocket
import KeelWebSocket
import KeelWebSocketNIO
import Testing

@Suite("Sending after the end of a connection")
struct LateSendTests {
    @Test("Nothing can be sent while a Close frame waits for its answer")
    func whileClosing() async throws {
        let (closed, closing) = AsyncStream<Void>.makeStream()
        let (answered, answering) = AsyncStream<Void>.makeStream()
        try await RawServer.run { peer in
            // Whatever happens to the server, no task waits for it forever.
            defer { closing.finish() }
            try await peer.upgrade()
            _ = try await peer.readFrame()
            closing.yield()
            _ = await answered.first { _ in true }
            try await peer.write(Frame.close().bytes)
        } while: { port in
            try await NIOWebSocketTransport().withConnection(
                to: request(port),
                configuration: configuration()
            ) { connection in
                async let end: Void = connection.close()
                _ = await closed.first { _ in true }
                let error = try await failure { try await connection.send("late") }
                #expect(error?.code == .closed)
                answering.yield()
                try await end
            }
        }
    }

    @Test("A sender learns that a connection is lost although messages are unread")
    func unreadMessages() async throws {
        try await RawServer.run { peer in
            try await peer.upgrade()
            try await peer.write(Frame.text("one").bytes + Frame.text("two").bytes)
            _ = try await peer.readFrame()
        } while: { port in
            try await NIOWebSocketTransport().withConnection(
                to: request(port),
                configuration: configuration { $0.receiveBufferSize = 1 }
            ) { connection in
                // The second message stays unread.
                _ = try await connection.receive()
                try await connection.send("hang up")
                var error: WebSocketError?
                while error == nil {
                    // More than the send buffer, so that the call waits for the outcome.
                    error = try await failure {
                        try await connection.send([UInt8](repeating: 1, count: 1 << 20))
                    }
                }
                #expect(error?.code == .transport)
                let late = try await failure { try await connection.send("late") }
                #expect(late?.code == .transport)
            }
        }
    }
}
#endif
