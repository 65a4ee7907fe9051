import NIOCore
import NIOHTTP1

/// Handles properties of heads that HTTPTypes does not represent.
///
/// HTTP/1.0 clients receive no interim responses (RFC 9110, section 15.2). The method M-SEARCH, which SwiftNIO
/// names MSEARCH, gets its name back.
final class HeadHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Whether the client has sent a request of an older version, and receives no interim responses.
    private var isOld = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else {
            context.fireChannelRead(data)
            return
        }
        if head.version != .http1_1 { isOld = true }
        if head.method == .MSEARCH { head.method = .RAW(value: "M-SEARCH") }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if isOld, case .head(let head) = unwrapOutboundIn(data),
            (102..<200).contains(head.status.code)
        {
            promise?.succeed()
            return
        }
        context.write(data, promise: promise)
    }
}
