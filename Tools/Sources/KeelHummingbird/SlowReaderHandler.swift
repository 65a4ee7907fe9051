internal import HTTPTypes
package import NIOCore
package import NIOHTTPTypes

/// Closes connections whose client takes its answer too slowly, or not at all.
///
/// What is written waits in memory until the client takes it. In each stretch of time in which
/// something waits, the client has to take so many bytes, or everything.
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
