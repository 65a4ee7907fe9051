#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import AsyncHTTPClient
import Crypto
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL

/// Adds an ``ExchangeHandler`` to every pipeline that AsyncHTTPClient creates.
///
/// The client calls these functions after the handshake and before the first request, on the channel's event loop.
/// Despite their names, they are the only way to its channels (swift-server/async-http-client#868).
struct ConnectionWatch: Sendable {
    let waiting: WaitingExchanges
    let writeTimeout: TimeAmount

    func install(in settings: inout HTTPClient.Configuration) {
        settings.http1_1ConnectionDebugInitializer = watchHTTP1
        settings.http2ConnectionDebugInitializer = watchHTTP2
        settings.http2StreamChannelDebugInitializer = watchStream
    }

    private func watchHTTP1(_ channel: any Channel) -> EventLoopFuture<Void> {
        keyDigest(of: channel).flatMapThrowing { digest in
            let pipeline = channel.pipeline.syncOperations
            let connection = Connection(channel, version: "HTTP/1.1", keyDigest: digest)
            let exchanges = ExchangeHandler(connection, waiting, writeTimeout: writeTimeout)
            let decoder = try pipeline.handler(
                type: ByteToMessageHandler<HTTPResponseDecoder>.self
            )
            try pipeline.addHandler(ExcessHandler(exchanges), position: .before(decoder))
            try pipeline.addHandler(exchanges, position: .after(decoder))
        }
    }

    private func watchHTTP2(_ channel: any Channel) -> EventLoopFuture<Void> {
        keyDigest(of: channel).flatMapThrowing { digest in
            let connection = Connection(channel, version: "HTTP/2", keyDigest: digest)
            try channel.pipeline.syncOperations.addHandler(ConnectionHolder(connection))
        }
    }

    private func watchStream(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            guard let parent = channel.parent else { return }
            let holder = try parent.pipeline.syncOperations.handler(type: ConnectionHolder.self)
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(
                ExchangeHandler(holder.connection, waiting, writeTimeout: writeTimeout),
                position: .after(
                    try pipeline.handler(type: HTTP2FramePayloadToHTTP1ClientCodec.self)
                )
            )
        }
    }

    private func keyDigest(of channel: any Channel) -> EventLoopFuture<[UInt8]?> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            guard (try? pipeline.handler(type: NIOSSLHandler.self)) != nil,
                let certificate = try pipeline.nioSSL_peerCertificate()
            else { return nil }
            let key = try certificate.extractPublicKey().toSPKIBytes()
            return Array(SHA256.hash(data: key))
        }
    }
}

/// Keeps bytes after the end of a response from being read as the next response (RFC 9112 section 6.3).
///
/// The author of the body may have chosen them. Here the complete response succeeds, the excess is dropped, and the
/// connection is closed; a request that reaches it before that is sent on another one.
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
