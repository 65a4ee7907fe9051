#if WebSocket
import HTTPTypes
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import KeelWebSocket
import KeelWebSocketNIO
import Synchronization
import Testing

@Suite("Lifetime of a connection", .serialized)
struct LifetimeTests {
    /// A server that answers Close frames and echoes messages.
    private static let echo: @Sendable (RawServer.Peer) async throws -> Void = { peer in
        try await peer.upgrade()
        while let frame = try await peer.readFrame() {
            switch frame.opcode {
            case 8:
                try await peer.write(Frame.close(frame.closeCode).bytes)
                return
            case 9: try await peer.write(Frame.pong(frame.payload).bytes)
            case 1, 2:
                try await peer.write(Frame(opcode: frame.opcode, payload: frame.payload).bytes)
            default: break
            }
        }
    }

    private func connect<Value: Sendable>(
        _ port: Int,
        clock: any Clock<Duration> = ContinuousClock(),
        _ change: (inout WebSocketConfiguration) -> Void = { _ in },
        _ body: @Sendable (WebSocketConnection) async throws -> Value
    ) async throws -> Value {
        try await NIOWebSocketTransport(clock: clock).withConnection(
            to: request(port),
            configuration: configuration(change),
            body
        )
    }

    @Test(
        "Messages of all sizes are echoed, in one frame or many",
        arguments: [nil, 1, 125, 1000] as [Int?]
    )
    func echoes(_ frameSize: Int?) async throws {
        let lengths = frameSize == 1 ? [0, 1, 5] : [0, 1, 125, 126, 65_535, 65_536, 200_000]
        try await RawServer.run { peer in
            try await peer.upgrade()
            while true {
                var message: [UInt8] = []
                var opcode: UInt8 = 0
                while let frame = try await peer.readFrame() {
                    guard frame.opcode < 8 else { return try await peer.write(Frame.close().bytes) }
                    if frame.opcode != 0 { opcode = frame.opcode }
                    message += frame.payload
                    if frame.isFinal { break }
                }
                try await peer.write(Frame(opcode: opcode, payload: message).bytes)
            }
        } while: { port in
            try await self.connect(port, { $0.outgoingFrameSize = frameSize }) { connection in
                for length in lengths {
                    let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
                    try await connection.send(bytes)
                    let echo = try await connection.receive()
                    #expect(echo == .binary(bytes))
                }
            }
        }
    }

    @Test(
        "When the closure returns or throws, the server receives a Close frame",
        arguments: [true, false]
    )
    func endOfClosure(_ returns: Bool) async throws {
        struct Oops: Error {}
        let (codes, reporting) = AsyncStream<UInt16?>.makeStream()
        try await RawServer.run { peer in
            // Whatever happens to the server, no task waits for it forever.
            defer { reporting.finish() }
            try await peer.upgrade()
            let frame = try await peer.readFrame()
            reporting.yield(frame?.closeCode)
        } while: { port in
            do {
                try await self.connect(port) { _ in if !returns { throw Oops() } }
                #expect(returns)
            } catch is Oops {
                #expect(!returns)
            }
            // Before the server is ended, as the frame may still be on its way to it.
            let code: UInt16? = await codes.first { _ in true } ?? nil
            let expected: UInt16 = returns ? 1000 : 1001
            #expect(code == expected)
        }
    }

    @Test(
        "Canceling the task ends reading, sending, pinging, closing and opening at once",
        arguments: 0..<5
    )
    func cancellation(_ kind: Int) async throws {
        let (started, starting) = AsyncStream<Void>.makeStream()
        try await RawServer.run { peer in
            if kind == 4 {
                _ = try await peer.readRequest()
                starting.yield()
            } else {
                try await peer.upgrade()
            }
            // From here on the server is silent, and only the first bytes are read.
            for await _ in AsyncStream<Never>.makeStream().stream {}
        } while: { port in
            let task = Task {
                try await failure {
                    // A close or ping must not end by itself before it is canceled.
                    try await self.connect(
                        port,
                        {
                            $0.closeTimeout = .seconds(100)
                            $0.pongTimeout = .seconds(100)
                        }
                    ) { connection in
                        starting.yield()
                        switch kind {
                        case 0: _ = try await connection.receive()
                        case 1:
                            while true {
                                try await connection.send([UInt8](repeating: 1, count: 1 << 20))
                            }
                        case 2: try await connection.ping()
                        default: try await connection.close()
                        }
                    }
                }
            }
            _ = await started.first { _ in true }
            task.cancel()
            let error = try await task.value
            #expect(error?.code == .cancelled)
        }
    }

    @Test("Canceling one reader does not affect the connection")
    func cancelledReader() async throws {
        try await RawServer.run(Self.echo) { port in
            try await self.connect(port) { connection in
                let reader = Task { try await failure { _ = try await connection.receive() } }
                reader.cancel()
                let result = try await reader.value
                #expect(result?.code == .cancelled)
                try await connection.send("still here")
                let echo = try await connection.receive()
                #expect(echo == .text("still here"))
            }
        }
    }

    @Test("A second concurrent reader throws, and the first continues")
    func twoReaders() async throws {
        try await RawServer.run(Self.echo) { port in
            try await self.connect(port) { connection in
                let outcomes = try await withThrowingTaskGroup(of: WebSocketError.Code?.self) {
                    group in
                    for _ in 0..<2 {
                        group.addTask {
                            try await failure { _ = try await connection.receive() }?.code
                        }
                    }
                    let first = try await group.next() ?? nil
                    try await connection.send("go on")
                    return [first, try await group.next() ?? nil]
                }
                #expect(outcomes == [.concurrentRead, nil])
            }
        }
    }

    @Test("The watchdog drops a silent server")
    func watchdog() async throws {
        let clock = TestClock()
        try await RawServer.run { peer in
            try await peer.upgrade()
            while try await peer.readFrame() != nil {}
        } while: { port in
            let (opened, opening) = AsyncStream<Void>.makeStream()
            async let error = failure {
                try await self.connect(port, clock: clock, { $0.pingInterval = .seconds(30) }) {
                    connection in
                    opening.yield()
                    for try await _ in connection.messages {}
                }
            }
            _ = await opened.first { _ in true }
            await clock.advance(by: .seconds(30), onceAsleep: 1)
            await clock.advance(by: .seconds(15), onceAsleep: 1)
            let result = try await error
            #expect(result?.code == .pongTimeout)
            #expect(result?.allowsReconnect == true)
        }
    }

    @Test("A server that answers pings is kept")
    func answeredPings() async throws {
        let clock = TestClock()
        let pings = Counter()
        try await RawServer.run { peer in
            try await peer.upgrade()
            while let frame = try await peer.readFrame() {
                if frame.opcode == 8 { return try await peer.write(Frame.close().bytes) }
                guard frame.opcode == 9 else { continue }
                pings.next()
                try await peer.write(Frame.pong(frame.payload).bytes)
            }
        } while: { port in
            try await self.connect(port, clock: clock, { $0.pingInterval = .seconds(30) }) {
                connection in
                await clock.advance(by: .seconds(30), onceAsleep: 1)
                for _ in 0..<5 {
                    await clock.waitForSleepers()
                    // Its pong follows that of the watchdog.
                    try await connection.ping()
                    // The watchdog's timeout, and then the rest of the interval.
                    for _ in 0..<2 { await clock.advance(by: .seconds(15), onceAsleep: 1) }
                }
            }
        }
        #expect(pings.count >= 10)
    }

    @Test("A ping without a pong fails, and the connection stays open")
    func unansweredPing() async throws {
        let clock = TestClock()
        try await RawServer.run { peer in
            try await peer.upgrade()
            while let frame = try await peer.readFrame() {
                if frame.opcode == 8 { return try await peer.write(Frame.close().bytes) }
                if frame.opcode == 1 { try await peer.write(Frame.text("here").bytes) }
            }
        } while: { port in
            try await self.connect(port, clock: clock) { connection in
                async let error = failure { try await connection.ping() }
                await clock.advance(by: .seconds(15), onceAsleep: 1)
                let result = try await error
                #expect(result?.code == .pongTimeout)
                try await connection.send("there?")
                let echo = try await connection.receive()
                #expect(echo == .text("here"))
            }
        }
    }

    @Test("A silent opening times out; a rejection with an endless body remains a rejection")
    func openTimeout() async throws {
        for answer in ["", "HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\nbusy"] {
            let clock = TestClock()
            let (asked, asking) = AsyncStream<Void>.makeStream()
            try await RawServer.run { peer in
                _ = try await peer.readRequest()
                try await peer.write(Array(answer.utf8))
                asking.yield()
                while try await peer.readByte() != nil {}
            } while: { port in
                async let error = failure {
                    try await self.connect(port, clock: clock, { $0.openTimeout = .seconds(10) }) {
                        _ in
                    }
                }
                _ = await asked.first { _ in true }
                if !answer.isEmpty { try await self.echoOnce() }
                await clock.advance(by: .seconds(10), onceAsleep: 1)
                let result = try await error
                if answer.isEmpty {
                    #expect((result?.cause as? TransportError)?.code == .connectTimeout)
                } else {
                    // The head may still be on its way: the clock does not wait for the network.
                    #expect(result?.code == .upgradeRefused || result?.code == .transport)
                }
            }
        }
    }

    /// Gives the network time to deliver earlier data.
    private func echoOnce() async throws {
        try await RawServer.run(Self.echo) { port in
            try await self.connect(port) { connection in
                try await connection.send("x")
                _ = try await connection.receive()
            }
        }
    }

    @Test("A server that never answers a Close frame is dropped after the close timeout")
    func closeTimeout() async throws {
        let clock = TestClock()
        try await RawServer.run { peer in
            try await peer.upgrade()
            while try await peer.readFrame() != nil {}
        } while: { port in
            let (opened, opening) = AsyncStream<Void>.makeStream()
            async let end: Void = self.connect(
                port,
                clock: clock,
                { $0.closeTimeout = .seconds(5) }
            ) { connection in
                opening.yield()
                try await connection.close()
                await #expect(throws: WebSocketError.self) { try await connection.send("late") }
            }
            _ = await opened.first { _ in true }
            await clock.advance(by: .seconds(5), onceAsleep: 1)
            try await end
        }
    }

    @Test("Close codes and reasons that may not be sent are rejected")
    func invalidCloses() async throws {
        try await RawServer.run(Self.echo) { port in
            try await self.connect(port) { connection in
                for code in [0, 999, 1004, 1005, 1006, 1015, 2000, 5000] as [UInt16] {
                    let error = try await failure {
                        try await connection.close(WebSocketCloseCode(code))
                    }
                    #expect(error?.code == .invalidArgument)
                }
                let long = String(repeating: "é", count: 62)
                let error = try await failure { try await connection.close(reason: long) }
                #expect(error?.code == .invalidArgument)
                try await connection.close(reason: String(long.dropLast()))
                #expect(connection.peerClose == nil)
            }
        }
    }

    @Test("A broken connection throws after the messages that had arrived")
    func broken() async throws {
        try await RawServer.run { peer in
            try await peer.upgrade()
            try await peer.write(Frame.text("one").bytes + Frame.text("two").bytes + [0x81])
        } while: { port in
            let got = Mutex<[WebSocketMessage]>([])
            let error = try await failure {
                try await self.connect(port, { $0.receiveBufferSize = 1 }) { connection in
                    for try await message in connection.messages {
                        got.withLock { $0.append(message) }
                    }
                }
            }
            #expect((error?.cause as? TransportError)?.code == .connectionLost)
            #expect(got.withLock { $0 } == [.text("one"), .text("two")])
        }
    }

    @Test("A paused reader holds the server back and loses nothing")
    func slowReader() async throws {
        // Four times what systems buffer for an unread connection, which is at most 32 MiB.
        let total = 512
        let size = 256 << 10
        let written = Counter()
        try await RawServer.run { peer in
            try await peer.upgrade()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for index in 0..<total {
                        let payload = [UInt8](repeating: UInt8(index & 0xff), count: size)
                        try await peer.write(Frame.binary(payload).bytes)
                        written.next()
                    }
                    try await peer.write(Frame.close().bytes)
                }
                try await peer.readFrames()
                try await group.waitForAll()
            }
        } while: { port in
            try await self.connect(port, { $0.sendBufferSize = 0 }) { connection in
                // The server is stuck if three hundred sends of this side make no progress.
                var (last, still) = (-1, 0)
                while still < 300 {
                    try await connection.send("x")
                    let now = written.count
                    still = now == last ? still + 1 : 0
                    last = now
                }
                #expect(last < total / 2, "the server wrote \(last) of \(total) messages")
                var count = 0
                for try await message in connection.messages {
                    guard case .binary(let bytes) = message, bytes.count == size,
                        bytes.first == UInt8(count & 0xff)
                    else { break }
                    count += 1
                }
                #expect(count == total)
            }
        }
    }

    @Test(
        "A server that stops reading holds the senders back, even with small messages",
        arguments: [1 << 20, 4 << 10]
    )
    func slowServer(size: Int) async throws {
        let (released, releasing) = AsyncStream<Void>.makeStream()
        let sent = Counter()
        let total = (256 << 20) / size
        try await RawServer.run { peer in
            try await peer.upgrade()
            _ = await released.first { _ in true }
            while try await peer.readByte() != nil {}
        } while: { port in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    // No system buffers 256 MiB of unread data.
                    let error = try await failure {
                        try await self.connect(port) { connection in
                            for _ in 0..<total {
                                try await connection.send([UInt8](repeating: 1, count: size))
                                sent.next()
                            }
                        }
                    }
                    #expect(error?.code == .cancelled)
                }
                var (last, still) = (-1, 0)
                while still < 20 {
                    try await self.echoOnce()
                    let now = sent.count
                    still = now == last ? still + 1 : 0
                    last = now
                }
                #expect(last < total / 2)
                group.cancelAll()
                try await group.waitForAll()
                releasing.yield()
            }
        }
    }
}
#endif
