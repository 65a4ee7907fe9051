// Traits: WebSocket
import Foundation
import HTTPTypes
import KeelWebSocket
import KeelWebSocketNIO

let url = URL(filePath: "/")
try await NIOWebSocketTransport().withConnection(to: try HTTPRequest(webSocket: url)) {
    try await $0.send("hello")
}
