package import NIOCore
package import NIOHTTP1

/// Handles properties of heads that HTTPTypes does not represent.
///
/// HTTP/1.0 clients receive no interim responses (RFC 9110, section 15.2). The method M-SEARCH, which SwiftNIO
/// names MSEARCH, gets its name back.
package final class HeadHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias InboundOut = HTTPServerRequestPart
    package typealias OutboundIn = HTTPServerResponsePart
    package typealias OutboundOut = HTTPServerResponsePart

    /// Whether the client has sent a request of an older version.
    private var isOld = false
    private var asksForOtherProtocol = false
    /// Whether SwiftNIO decodes nothing more, because a request that asks for another protocol has ended.
    fileprivate var isDecodingOver = false

    package init() {}

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(var head):
            // SwiftNIO ignores `Upgrade` without `Connection: upgrade`.
            isDecodingOver = false
            if head.version != .http1_1 { isOld = true }
            if head.method == .MSEARCH { head.method = .RAW(value: "M-SEARCH") }
            asksForOtherProtocol = head.method == .CONNECT || head.headers.contains(name: "upgrade")
            context.fireChannelRead(wrapInboundOut(.head(head)))
        case .body: context.fireChannelRead(data)
        case .end:
            if asksForOtherProtocol { isDecodingOver = true }
            context.fireChannelRead(data)
        }
    }

    package func write(
        context: ChannelHandlerContext,
        data: NIOAny,
        promise: EventLoopPromise<Void>?
    ) {
        if isOld, case .head(let head) = unwrapOutboundIn(data),
            (100..<200).contains(head.status.code)
        {
            promise?.succeed()
            return
        }
        context.write(data, promise: promise)
    }
}

/// Discards the bytes behind a request that asks for another protocol.
///
/// SwiftNIO's decoder would keep all of them. The response to such a request closes the connection.
package final class LastBytesHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer

    private let heads: HeadHandler

    package init(_ heads: HeadHandler) { self.heads = heads }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !heads.isDecodingOver { context.fireChannelRead(data) }
    }
}
