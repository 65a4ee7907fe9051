import Foundation
import HTTPTypes
import KeelWebSocket
import KeelWebSocketNIO

extension HTTPGroup {
    /// Measures round trips of 64 bytes of both clients to the benchmark server, without compression.
    static func webSocketEcho(_ pair: Lazily<HTTPPair>, _ options: Options) -> Measure {
        let count = options.scaled(5_000)
        return Measure(
            name: "WebSocket echo of 64 bytes / PyPI's websockets",
            unit: "µs",
            target: .atLeast(3),
            keel: {
                // Fails early if the peer is missing.
                _ = try python()
                return try await echo(count, "ws://127.0.0.1:\(try await pair.value().port)/echo")
            },
            peer: {
                let script = URL(filePath: #filePath).deletingLastPathComponent()
                    .appending(path: "Peers/websocket-echo-client.py").path
                let address = "ws://127.0.0.1:\(try await pair.value().port)/echo"
                let run = try await ProgramRun(python(), [script, address, "\(count)", "64"])
                guard !run.output.contains("ModuleNotFoundError") else {
                    throw NotRun("\(try python()) lacks the package 'websockets'")
                }
                return try run.number()
            }
        )
    }

    private static func python() throws -> String {
        guard let interpreter = ProcessInfo.processInfo.environment["KEEL_PYTHON"] else {
            throw NotRun("KEEL_PYTHON names no Python with the package 'websockets'")
        }
        return interpreter
    }

    /// Returns the microseconds of a round trip; a tenth of them are the warm-up.
    @concurrent
    private static func echo(_ count: Int, _ address: String) async throws -> Double {
        guard let url = URL(string: address) else { throw Flaw("No address.") }
        let message = [UInt8](repeating: 0x78, count: 64)
        var configuration = WebSocketConfiguration()
        configuration.deflate = nil
        return try await NIOWebSocketTransport().withConnection(
            to: try HTTPRequest(webSocket: url),
            configuration: configuration
        ) { connection in
            func roundTrip() async throws {
                try await connection.send(message)
                guard try await connection.receive() == .binary(message) else {
                    throw Flaw("The echo differs.")
                }
            }
            for _ in 0..<(count / 10) { try await roundTrip() }
            return try await Timing.perCall(count) { _ in try await roundTrip() }
        }
    }
}
