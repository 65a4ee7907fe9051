import NIOCore

/// Tells HTTP/2 from HTTP/1.1 by the first bytes of a connection (RFC 9113, section 3.4), and then leaves the pipeline.
final class ProtocolDetectionHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// The time for which a connection without a request stays open once the server ends.
    private static let quiescingTimeout = TimeAmount.milliseconds(500)

    private let timeout: TimeAmount
    private let result: EventLoopPromise<ConnectionChannel.Connection>
    private let setUp: (_ isHTTP2: Bool) -> EventLoopFuture<ConnectionChannel.Connection>
    private var bytes = ByteBuffer()
    private var isDecided = false
    private var isQuiescing = false
    private var end: Scheduled<Void>?

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - timeout: The time after which a connection whose protocol is unknown is closed.
    ///   - result: The promise of the connection, which fails if the client leaves before.
    ///   - setUp: Adds the handlers of a protocol to the pipeline.
    init(
        timeout: TimeAmount,
        _ result: EventLoopPromise<ConnectionChannel.Connection>,
        setUp: @escaping (_ isHTTP2: Bool) -> EventLoopFuture<ConnectionChannel.Connection>
    ) {
        self.timeout = timeout
        self.result = result
        self.setUp = setUp
    }

    func handlerAdded(context: ChannelHandlerContext) {
        close(in: timeout, context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end?.cancel()
        // Without effect after a decision.
        result.fail(ChannelError.eof)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDecided else { return context.fireChannelRead(data) }
        var more = unwrapInboundIn(data)
        bytes.writeBuffer(&more)
        let known = min(bytes.readableBytes, Self.preface.count)
        guard bytes.readableBytesView.prefix(known).elementsEqual(Self.preface.prefix(known)) else {
            return decide(isHTTP2: false, context)
        }
        if known == Self.preface.count { decide(isHTTP2: true, context) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if !isDecided {
            if event is ChannelShouldQuiesceEvent {
                isQuiescing = true
                return close(in: Self.quiescingTimeout, context)
            }
            if event as? ChannelEvent == .inputClosed {
                guard bytes.readableBytes > 0 else { return context.close(promise: nil) }
                decide(isHTTP2: false, context)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func close(in time: TimeAmount, _ context: ChannelHandlerContext) {
        end?.cancel()
        end = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            context.close(promise: nil)
        }
    }

    private func decide(isHTTP2: Bool, _ context: ChannelHandlerContext) {
        isDecided = true
        end?.cancel()
        let connection = setUp(isHTTP2)
        result.completeWith(connection)
        connection.assumeIsolated().whenComplete { [self] result in
            guard case .success = result else { return context.close(promise: nil) }
            context.fireChannelRead(wrapInboundOut(bytes))
            bytes = ByteBuffer()
            if isQuiescing { context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        }
    }
}
