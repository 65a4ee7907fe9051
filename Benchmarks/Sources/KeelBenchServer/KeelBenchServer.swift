import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// The server of the HTTP benchmarks, in a separate process.
///
/// Prints its port on the first line and ends with its standard input.
@main
struct KeelBenchServer {
    static func main() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 512)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try configure(channel.pipeline)
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        print(channel.localAddress?.port ?? 0)
        fflush(nil)
        while readLine() != nil {}
        exit(0)
    }

    /// Responds to requests, and echoes messages after an upgrade to a WebSocket.
    private static func configure(_ pipeline: ChannelPipeline) throws {
        let upgrader = NIOWebSocketServerUpgrader(
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
            upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Echo())
                }
            }
        )
        try pipeline.syncOperations.configureHTTPServerPipeline(
            withServerUpgrade: (
                upgraders: [upgrader],
                completionHandler: { context in
                    context.pipeline.removeHandler(name: Responder.name, promise: nil)
                }
            )
        )
        try pipeline.syncOperations.addHandler(Responder(), name: Responder.name)
    }
}

/// Echoes every message of a WebSocket, frame by frame.
final class Echo: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text, .binary, .continuation:
            send(frame.fin, frame.opcode, frame.unmaskedData, context)
        case .ping:
            send(true, .pong, frame.unmaskedData, context)
        case .connectionClose:
            send(true, .connectionClose, frame.unmaskedData, context)
            context.close(promise: nil)
        default:
            break
        }
    }

    private func send(
        _ isLast: Bool,
        _ opcode: WebSocketOpcode,
        _ data: ByteBuffer,
        _ context: ChannelHandlerContext
    ) {
        let frame = WebSocketFrame(fin: isLast, opcode: opcode, data: data)
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }
}
