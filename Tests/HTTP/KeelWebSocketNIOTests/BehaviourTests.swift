#if WebSocket
import HTTPTypes
import KeelWebSocket
import KeelWebSocketNIO
import Synchronization
import Testing

@Suite("Valid and invalid bytes from a server (RFC 6455)")
struct BehaviourTests {
    @Test("The table is complete and has no duplicates")
    func count() {
        #expect(WireCase.all.count > 350)
        #expect(Set(WireCase.all.map(\.testDescription)).count == WireCase.all.count)
    }

    @Test("Each row holds over a socket when sent at once", arguments: WireCase.all)
    func allAtOnce(_ row: WireCase) async throws { try await check(row) { [row.bytes] } }

    @Test(
        "Each row holds over a socket in pieces of 1 to 9 bytes",
        arguments: WireCase.all.filter { $0.bytes.count < 600 }
    )
    func inPieces(_ row: WireCase) async throws {
        try await check(row) {
            var pieces: [[UInt8]] = []
            var rest = row.bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(1 + pieces.count % 9)
                pieces.append(Array(piece))
                rest = rest.dropFirst(piece.count)
            }
            return pieces
        }
    }

    private func check(_ row: WireCase, _ pieces: @escaping @Sendable () -> [[UInt8]]) async throws
    {
        let (sent, sending) = AsyncStream<[Frame]>.makeStream()
        let got = Mutex<[WebSocketMessage]>([])
        let (error, received) = try await RawServer.run { peer in
            // Whatever happens to the server, no task waits for it forever.
            defer { sending.finish() }
            try await peer.upgrade()
            for piece in pieces() { try await peer.write(piece) }
            sending.yield(try await peer.readFrames())
        } while: { port in
            let error = try await failure {
                try await NIOWebSocketTransport().withConnection(
                    to: request(port),
                    configuration: configuration(row.change)
                ) { connection in
                    for try await message in connection.messages {
                        got.withLock { $0.append(message) }
                    }
                }
            }
            // Before the server is ended, as frames may still be on their way to it.
            return (error, await sent.first { _ in true })
        }
        #expect(error?.code == row.error)
        #expect(got.withLock { $0 } == row.messages)
        let frames = try #require(received)
        #expect(frames.filter { $0.opcode == 10 }.map(\.payload) == row.pongs)
        #expect(frames.last?.opcode == 8)
        #expect(frames.last?.closeCode == row.closeCode)
        #expect(frames.allSatisfy { $0.isMasked && $0.reserved == 0 })
        if row.error == .closed { #expect(error?.close?.code.rawValue == row.closeCode) }
    }

    private func failure(_ body: () async throws -> Void) async throws -> WebSocketError? {
        try await KeelWebSocketNIOTests.failure(of: body)
    }
}
#endif
