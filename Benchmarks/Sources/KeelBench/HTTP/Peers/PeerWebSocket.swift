import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// A WebSocket client of SwiftNIO alone, with its asynchronous channel, as in its examples.
enum PeerWebSocket {
    typealias Connection = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    /// Reads the frames of a connection; used by one task at a time.
    final class Frames {
        private var frames: NIOAsyncChannelInboundStream<WebSocketFrame>.AsyncIterator

        init(_ frames: NIOAsyncChannelInboundStream<WebSocketFrame>) {
            self.frames = frames.makeAsyncIterator()
        }

        func next() async throws -> WebSocketFrame? {
            try await frames.next(isolation: #isolation)
        }
    }

    /// Opens a connection to the path `/echo` of a server on this machine.
    static func connect(_ port: Int) async throws -> Connection {
        let upgrade = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
                        configuration: .init(upgradeConfiguration: configuration(port))
                    )
                }
            }
        return try await upgrade.get()
    }

    private static func configuration(
        _ port: Int
    ) -> NIOTypedHTTPClientUpgradeConfiguration<Connection> {
        let upgrader = NIOTypedWebSocketClientUpgrader<Connection>(
            upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel(wrappingChannelSynchronously: channel)
                }
            }
        )
        return NIOTypedHTTPClientUpgradeConfiguration(
            upgradeRequestHead: HTTPRequestHead(
                version: .http1_1,
                method: .GET,
                uri: "/echo",
                headers: ["Host": "127.0.0.1:\(port)"]
            ),
            upgraders: [upgrader],
            notUpgradingCompletionHandler: { channel in
                channel.eventLoop.makeFailedFuture(Flaw("The server refused the WebSocket."))
            }
        )
    }
}
