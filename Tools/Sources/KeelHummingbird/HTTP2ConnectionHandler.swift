internal import HTTPTypes
package import NIOCore
package import NIOHTTP2
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP2

/// Limits what a client of HTTP/2 can do on a connection apart from requests.
///
/// Clients of gRPC ping every ten seconds or more while they wait, and more often while they receive. So a ping is
/// premature only within five seconds of another one without anything sent in between. The third premature ping ends
/// the connection, as in gRPC's own servers. SwiftNIO acknowledges pings; Hummingbird, whose limit is 30 seconds
/// whatever is sent, does not see them.
package final class HTTP2ConnectionHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTP2Frame
    package typealias InboundOut = HTTP2Frame
    package typealias OutboundOut = HTTP2Frame

    private static let pingInterval = TimeAmount.seconds(5)
    private static let mostPrematurePings = 2

    /// The time for which a connection without streams stays; Hummingbird asks the client to leave earlier.
    private let idleTimeout: TimeAmount
    /// The same during a graceful shutdown.
    private let quiescingTimeout: TimeAmount
    private var lastPing: NIODeadline?
    private var prematurePings = 0
    private var openStreams = 0
    private var isQuiescing = false
    private var end: Scheduled<Void>?
    private var context: ChannelHandlerContext?

    package init(
        idleTimeout: TimeAmount = .seconds(330),
        quiescingTimeout: TimeAmount = .seconds(5)
    ) {
        self.idleTimeout = idleTimeout
        self.quiescingTimeout = quiescingTimeout
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        closeLater()
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        end?.cancel()
        self.context = nil
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .ping(_, ack: false) = unwrapInboundIn(data).payload else {
            return context.fireChannelRead(data)
        }
        let now = context.eventLoop.now
        defer { lastPing = now }
        guard let lastPing, now - lastPing < Self.pingInterval else { return }
        prematurePings += 1
        guard prematurePings > Self.mostPrematurePings else { return }
        let goAway = HTTP2Frame(
            streamID: .rootStream,
            payload: .goAway(
                lastStreamID: .maxID,
                errorCode: .enhanceYourCalm,
                opaqueData: ByteBuffer(string: "too_many_pings")
            )
        )
        context.writeAndFlush(wrapOutboundOut(goAway), promise: nil)
        context.close(promise: nil)
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            isQuiescing = true
            closeLater()
        }
        context.fireUserInboundEventTriggered(event)
    }

    // MARK: Streams

    fileprivate func streamOpened() {
        openStreams += 1
        end?.cancel()
    }

    fileprivate func streamClosed() {
        openStreams -= 1
        closeLater()
    }

    /// Records that something has been sent to the client, which may then ping again.
    package func hasSent() {
        lastPing = nil
        prematurePings = 0
    }

    /// Closes the connection after a time without streams, because its client may ignore the request to leave.
    private func closeLater() {
        end?.cancel()
        guard openStreams == 0, let context else { return }
        let timeout = isQuiescing ? quiescingTimeout : idleTimeout
        end = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) { [self] in
            self.context?.close(promise: nil)
        }
    }
}

/// Tells a connection of its streams, and ends a stream whose response is complete although its request is not.
final class HTTP2StreamHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let connection: HTTP2ConnectionHandler
    private var isRequestComplete = false

    init(of connection: HTTP2ConnectionHandler) { self.connection = connection }

    func handlerAdded(context: ChannelHandlerContext) { connection.streamOpened() }

    func handlerRemoved(context: ChannelHandlerContext) { connection.streamClosed() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .end = unwrapInboundIn(data) { isRequestComplete = true }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        connection.hasSent()
        guard case .end = unwrapOutboundIn(data), !isRequestComplete else {
            return context.write(data, promise: promise)
        }
        let written = promise ?? context.eventLoop.makePromise(of: Void.self)
        context.write(data, promise: written)
        written.futureResult.assumeIsolated().whenSuccess {
            // RFC 9113, section 8.1: the client need not send the rest, and keeps the response.
            context.triggerUserOutboundEvent(
                NIOHTTP2FramePayloadToHTTPEvent.reset(code: .noError),
                promise: nil
            )
        }
    }
}
