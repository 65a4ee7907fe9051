import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Sends every WebSocket message back.
final class WebSocketEcho: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    static var upgrade: NIOHTTPServerUpgradeConfiguration {
        let upgrader = NIOWebSocketServerUpgrader(
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
            upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(WebSocketEcho())
                }
            }
        )
        return (
            upgraders: [upgrader],
            completionHandler: { context in
                // The responder would take frames for requests.
                _ = context.pipeline.context(handlerType: Responder.self)
                    .flatMap { context.pipeline.syncOperations.removeHandler(context: $0) }
            }
        )
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text, .binary:
            let echo = WebSocketFrame(fin: true, opcode: frame.opcode, data: frame.unmaskedData)
            context.writeAndFlush(wrapOutboundOut(echo), promise: nil)
        case .connectionClose:
            let close = WebSocketFrame(
                fin: true,
                opcode: .connectionClose,
                data: frame.unmaskedData
            )
            context.writeAndFlush(wrapOutboundOut(close))
                .assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        default:
            break
        }
    }
}
