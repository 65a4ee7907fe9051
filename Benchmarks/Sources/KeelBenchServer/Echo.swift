import NIOCore
import NIOWebSocket

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
