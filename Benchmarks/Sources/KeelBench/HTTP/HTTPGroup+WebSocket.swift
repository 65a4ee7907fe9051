import Foundation
import HTTPTypes
import KeelWebSocket
import KeelWebSocketNIO
import NIOCore
import NIOWebSocket

extension HTTPGroup {
    /// Measures round trips of 64 bytes of both clients to the benchmark server, without compression.
    static func webSocketEcho(_ pair: Lazily<HTTPPair>, _ options: Options) -> Measure {
        let count = options.scaled(5_000)
        return Measure(
            name: "WebSocket echo of 64 bytes / PyPI's websockets",
            target: .atLeast(3),
            keel: {
                // Fails early if the peer is missing.
                try python.interpreter()
                return try await keelEcho(count, inFlight: 1, try await pair.value().port)
            },
            peer: {
                let address = "ws://127.0.0.1:\(try await pair.value().port)/echo"
                return try await python.number([address, "\(count)", "64"])
            }
        )
    }

    private static let python = PythonScript(
        "websocket-echo-client.py",
        with: "the package 'websockets'"
    )

    /// Measures messages of 64 bytes of both clients, some of which are on their way at any time.
    static func echo(
        _ name: String,
        _ target: Target,
        _ pair: Lazily<HTTPPair>,
        _ options: Options,
        inFlight: Int
    ) -> Measure {
        let count = options.scaled(inFlight == 1 ? 5_000 : 20_000)
        return Measure(
            name: name,
            target: target,
            keel: { try await keelEcho(count, inFlight: inFlight, pair.value().port) },
            peer: { try await peerEcho(count, inFlight: inFlight, pair.value().port) }
        )
    }

    /// Returns the microseconds of a message; a tenth of them are the warm-up.
    @concurrent
    static func keelEcho(_ count: Int, inFlight: Int, _ port: Int) async throws -> Double {
        guard let url = URL(string: "ws://127.0.0.1:\(port)/echo") else {
            throw Flaw("No address.")
        }
        let message = [UInt8](repeating: 0x78, count: 64)
        var configuration = WebSocketConfiguration()
        configuration.deflate = nil
        return try await NIOWebSocketTransport().withConnection(
            to: try HTTPRequest(webSocket: url),
            configuration: configuration
        ) { connection in
            try await perMessage(count, inFlight: inFlight) {
                try await connection.send(message)
            } receive: {
                guard try await connection.receive() == .binary(message) else {
                    throw Flaw("The echo differs.")
                }
            }
        }
    }

    @concurrent
    static func peerEcho(_ count: Int, inFlight: Int, _ port: Int) async throws -> Double {
        let message = ByteBuffer(repeating: 0x78, count: 64)
        let channel = try await PeerWebSocket.connect(port)
        return try await channel.executeThenClose { inbound, outbound in
            let frames = PeerWebSocket.Frames(inbound)
            let elapsed = try await perMessage(count, inFlight: inFlight) {
                let frame = WebSocketFrame(
                    fin: true,
                    opcode: .binary,
                    maskKey: .random(),
                    data: message
                )
                try await outbound.write(frame)
            } receive: {
                guard try await frames.next()?.unmaskedData == message else {
                    throw Flaw("The echo differs.")
                }
            }
            return elapsed
        }
    }

    private static func perMessage(
        _ count: Int,
        inFlight: Int,
        send: () async throws -> Void,
        receive: () async throws -> Void
    ) async throws -> Double {
        for _ in 0..<(inFlight - 1) { try await send() }
        func roundTrip() async throws {
            try await send()
            try await receive()
        }
        for _ in 0..<(count / 10) { try await roundTrip() }
        let elapsed = try await Timing.perCall(count) { _ in try await roundTrip() }
        for _ in 0..<(inFlight - 1) { try await receive() }
        return elapsed
    }
}
