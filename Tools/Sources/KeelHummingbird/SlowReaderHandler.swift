internal import HTTPTypes
package import NIOCore
package import NIOHTTPTypes

/// Closes connections whose client takes its response too slowly.
///
/// In each period in which written bytes wait, the client must take a minimum number of them, or all.
package final class SlowReaderHandler: ChannelOutboundHandler, RemovableChannelHandler {
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    private let stretch: TimeAmount
    private let leastBytes: Int
    private var waitingBytes = 0
    private var takenBytes = 0
    private var check: Scheduled<Void>?

    package init(stretch: TimeAmount = .seconds(30), leastBytes: Int = 64 << 10) {
        self.stretch = stretch
        self.leastBytes = leastBytes
    }

    package func write(
        context: ChannelHandlerContext,
        data: NIOAny,
        promise: EventLoopPromise<Void>?
    ) {
        guard case .body(let piece) = unwrapOutboundIn(data), piece.readableBytes > 0 else {
            return context.write(data, promise: promise)
        }
        let count = piece.readableBytes
        let written = promise ?? context.eventLoop.makePromise(of: Void.self)
        waitingBytes += count
        written.futureResult.assumeIsolated().whenComplete { [self] _ in
            waitingBytes -= count
            takenBytes += count
        }
        context.write(data, promise: written)
        if check == nil { watch(context) }
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        check?.cancel()
        check = nil
    }

    private func watch(_ context: ChannelHandlerContext) {
        takenBytes = 0
        check = context.eventLoop.assumeIsolated().scheduleTask(in: stretch) { [self] in
            check = nil
            guard waitingBytes > 0 else { return }
            guard takenBytes >= leastBytes else { return context.close(promise: nil) }
            watch(context)
        }
    }
}
