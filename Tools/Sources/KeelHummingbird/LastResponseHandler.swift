import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes a connection of HTTP/1.1 after a response that says so (RFC 9112, section 9.6).
///
/// The request is read to its end first, because a client whose bytes are refused may lose the response.
final class LastResponseHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private var isRequestComplete = false
    private var isLast = false
    private var isWritten = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: isRequestComplete = false
        case .body: break
        case .end: isRequestComplete = true
        }
        context.fireChannelRead(data)
        closeIfDone(context)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head): isLast = head.headerFields[.connection]?.lowercased() == "close"
        case .body: break
        case .end:
            guard isLast else { break }
            let written = promise ?? context.eventLoop.makePromise(of: Void.self)
            context.write(data, promise: written)
            written.futureResult.assumeIsolated().whenComplete { [self] _ in
                isWritten = true
                closeIfDone(context)
            }
            return
        }
        context.write(data, promise: promise)
    }

    private func closeIfDone(_ context: ChannelHandlerContext) {
        if isWritten, isRequestComplete { context.close(promise: nil) }
    }
}
