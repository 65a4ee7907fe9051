internal import HTTPTypes
package import NIOCore
package import NIOHTTPTypes

/// Closes connections whose request body arrives too slowly.
///
/// Each period must bring a minimum number of bytes, or the end of the request. Periods in which the handler takes no
/// more of the body do not count, nor does the time before a client that waits is told to continue. Requests of gRPC
/// are exempt, because their body stays open for as long as the client listens.
package final class SlowRequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    private let stretch: TimeAmount
    private let leastBytes: Int
    /// Whether the client waits for a response before it sends the body.
    private var isAwaited = false
    private var bytes = 0
    private var check: Scheduled<Void>?
    /// Whether the server waits for bytes.
    private var isReading = true
    /// Whether the period does not count, because the server paused reading.
    private var hasPaused = false

    package init(stretch: TimeAmount = .seconds(10), leastBytes: Int = 10 << 10) {
        self.stretch = stretch
        self.leastBytes = leastBytes
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            let type = head.headerFields[.contentType]
            guard type?.hasPrefix("application/grpc") != true else { break }
            isAwaited = head.headerFields[.expect]?.lowercased() == "100-continue"
            if !isAwaited { watch(context) }
        case .body(let piece):
            endWait(context)
            bytes += piece.readableBytes
        case .end:
            isAwaited = false
            rest()
        }
        context.fireChannelRead(data)
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        context.fireChannelReadComplete()
        guard check != nil else { return }
        // The next read usually follows on the same turn of the loop.
        context.eventLoop.assumeIsolated().execute { [self] in
            if !isReading { hasPaused = true }
        }
    }

    package func read(context: ChannelHandlerContext) {
        isReading = true
        context.read()
    }

    package func write(
        context: ChannelHandlerContext,
        data: NIOAny,
        promise: EventLoopPromise<Void>?
    ) {
        if case .head(let head) = unwrapOutboundIn(data),
            head.status == .continue || head.status.kind != .informational
        {
            endWait(context)
        }
        context.write(data, promise: promise)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        rest()
        context.fireChannelInactive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) { rest() }

    /// Begins to time the body of a client that waited.
    private func endWait(_ context: ChannelHandlerContext) {
        guard isAwaited else { return }
        isAwaited = false
        watch(context)
    }

    private func watch(_ context: ChannelHandlerContext) {
        bytes = 0
        hasPaused = !isReading
        check = context.eventLoop.assumeIsolated().scheduleTask(in: stretch) { [self] in
            guard bytes >= leastBytes || hasPaused else { return context.close(promise: nil) }
            watch(context)
        }
    }

    private func rest() {
        check?.cancel()
        check = nil
    }
}
