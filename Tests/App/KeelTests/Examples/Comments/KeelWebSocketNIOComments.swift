#if WebSocket
import Foundation
import HTTPTypes
import Keel
import KeelTestKit
import KeelWebSocket
import KeelWebSocketNIO
import Testing

/// Examples from the comments of KeelWebSocketNIO; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func nIOWebSocketTransport(_ request: HTTPRequest) async throws {
        let transport = NIOWebSocketTransport()
        try await transport.withConnection(to: request) { connection in
            try await connection.send("hello")
            print(try await connection.receive() ?? .text("closed"))
        }
        _ = transport
    }
}
#endif
