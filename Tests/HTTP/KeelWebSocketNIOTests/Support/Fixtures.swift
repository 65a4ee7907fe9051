#if WebSocket
import HTTPTypes
import KeelTestKit
import KeelWebSocket
import KeelWebSocketNIO

func request(_ port: Int, path: String = "/", _ fields: HTTPFields = [:]) -> HTTPRequest {
    HTTPRequest("ws://127.0.0.1:\(port)\(path)", .get, fields)
}

func secureRequest(_ port: Int) -> HTTPRequest {
    HTTPRequest(method: .get, scheme: "wss", authority: "localhost:\(port)", path: "/")
}

/// Returns a configuration without compression, pings and short timeouts, changed by the test.
func configuration(
    _ change: (inout WebSocketConfiguration) -> Void = { _ in }
) -> WebSocketConfiguration {
    var configuration = WebSocketConfiguration()
    configuration.deflate = nil
    configuration.pingInterval = nil
    // Hundreds of connections are opened at once, and may wait long on a busy machine. A client that stops waiting for
    // its server to hang up would cut off what the server still writes.
    configuration.openTimeout = .seconds(100)
    configuration.closeTimeout = .seconds(100)
    change(&configuration)
    return configuration
}

extension SeededRandom {
    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    mutating func text(_ count: Int) -> String {
        let letters = Array("abc \u{e9}\u{20ac}\u{1f600}\u{7ff}\u{800}\u{ffff}\u{10ffff}")
        return String(
            (0..<count).map { _ in letters[Int.random(in: 0..<letters.count, using: &self)] }
        )
    }
}
#endif
