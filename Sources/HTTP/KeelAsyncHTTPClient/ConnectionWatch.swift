#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import AsyncHTTPClient
import Crypto
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL

/// Adds an ``ExchangeHandler`` to every pipeline that AsyncHTTPClient creates.
///
/// The client calls these functions after the handshake and before the first request, on the
/// channel's event loop. Despite their names, they are the only way to its channels
/// (swift-server/async-http-client#868).
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
#endif
