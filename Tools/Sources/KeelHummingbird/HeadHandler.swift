import NIOCore
import NIOHTTP1

/// Looks at heads while they still tell what the types of HTTPTypes do not.
///
/// Clients of HTTP/1.0 know of no interim responses (RFC 9110 section 15.2), and get none. The method M-SEARCH,
/// which SwiftNIO's decoder calls MSEARCH, gets its name back.
final class HeadHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Whether a request of an older version has come; its client gets none from then on.
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
