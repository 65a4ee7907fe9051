#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import NIOCore

/// Keeps bytes after the end of a response from being read as the next response.
///
/// Such bytes belong to no response (RFC 9112 section 6.3), and may have been chosen by the author
/// of the body. AsyncHTTPClient would read them as the response to the next request on the
/// connection. Here the complete response succeeds, the excess is dropped, and the connection is
/// closed; a request that reaches it before that is sent on another one.
///
/// Precedes the HTTP/1.1 decoder, and is used only on its channel's event loop.
final class ExcessHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let exchanges: ExchangeHandler

    init(_ exchanges: ExchangeHandler) { self.exchanges = exchanges }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        exchanges.holdEnd()
        // The decoder does not report how much it has read when a response ends. The last byte is
        // therefore held back: a response that ends before it has excess bytes.
        if exchanges.mayEnd(before: bytes.readableBytes),
            let first = bytes.readSlice(length: bytes.readableBytes - 1)
        {
            context.fireChannelRead(wrapInboundOut(first))
        }
        if exchanges.isAnswering {
            context.fireChannelRead(wrapInboundOut(bytes))
        } else {
            exchanges.connection.isSpoiled = true
        }
        exchanges.releaseEnd()
        if exchanges.connection.isSpoiled { context.close(promise: nil) }
    }
}
#endif
