internal import HTTPTypes
package import NIOCore
package import NIOHTTPTypes

/// Closes connections whose request body arrives too slowly.
///
/// Hummingbird's own limit starts again with every piece, so that a client which sends a byte now
/// and then could hold connections for ever. Here each stretch of time has to bring so many bytes,
/// or the end of the request.
package final class SlowRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart

    private let stretch: TimeAmount
    private let leastBytes: Int
    private var bytes = 0
    private var check: Scheduled<Void>?

    package init(stretch: TimeAmount = .seconds(10), leastBytes: Int = 10 << 10) {
        self.stretch = stretch
        self.leastBytes = leastBytes
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: watch(context)
        case .body(let piece): bytes += piece.readableBytes
        case .end: rest()
        }
        context.fireChannelRead(data)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        rest()
        context.fireChannelInactive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) { rest() }

    private func watch(_ context: ChannelHandlerContext) {
        bytes = 0
        check = context.eventLoop.assumeIsolated().scheduleTask(in: stretch) { [self] in
            guard bytes >= leastBytes else { return context.close(promise: nil) }
            watch(context)
        }
    }

    private func rest() {
        check?.cancel()
        check = nil
    }
}
