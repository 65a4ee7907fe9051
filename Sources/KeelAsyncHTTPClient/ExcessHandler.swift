#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import NIOCore

/// Keeps what a server sends beyond a response away from the next one.
///
/// Bytes after the end of a response belong to no response (RFC 9112 section 6.3), and may have been
/// chosen by whoever made the body. AsyncHTTPClient would read them as the answer to the next request
/// on the connection. Here the response that is complete succeeds, the excess is dropped, and the
/// connection is closed; a request that comes to it before it is gone is sent on another one.
///
/// It stands before the decoder of HTTP/1.1 and is used on the event loop of its channel only.
final class ExcessHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let exchanges: ExchangeHandler

    init(_ exchanges: ExchangeHandler) { self.exchanges = exchanges }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        exchanges.holdEnd()
        // The decoder does not say how much it has read when a response ends. The last byte is
        // therefore kept back: a response that ends before it has it in excess.
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
