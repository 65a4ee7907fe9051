import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOHTTP2
import NIOHTTPTypesHTTP1
import NIOSSL

/// Sets up connections of HTTP/1.1, or of HTTP/2 if the client begins with its preface.
struct ConnectionChannel: ServerChildChannel {
    /// A connection, once its first bytes have shown the protocol.
    enum Connection: Sendable {
        case http1(HTTP1Channel, HTTP1Channel.Value)
        case http2(HTTP2Channel, HTTP2Channel.Value)
    }

    struct Value: ServerChildChannelValue {
        let connection: EventLoopFuture<Connection>
        let channel: any Channel
    }

    /// The time after which a client without a request is disconnected.
    private static let idleTimeout = TimeAmount.seconds(60)
    /// The time after which a client of HTTP/2 without a stream is asked to leave.
    private static let idleTimeoutHTTP2 = Duration.seconds(300)

    let responder: HandlerResponder
    let tls: NIOSSLContext?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            // A connection keeps its buffers while it waits: SwiftNIO's begin with 2 KiB. They grow with what is read.
            try channel.syncOptions?.setOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 64 << 10)
            )
            if let tls {
                try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
            }
            let promise = channel.eventLoop.makePromise(of: Connection.self)
            try channel.pipeline.syncOperations.addHandler(
                ProtocolDetectionHandler(timeout: Self.idleTimeout, promise) { isHTTP2 in
                    isHTTP2 ? http2(channel, logger) : http1(channel, logger)
                }
            )
            return Value(connection: promise.futureResult, channel: channel)
        }
    }

    func handle(value: Value, logger: Logger) async {
        let connection = await withTaskCancellationHandler {
            try? await value.connection.get()
        } onCancel: {
            value.channel.close(promise: nil)
        }
        switch connection {
        case .http1(let setup, let value): await setup.handle(value: value, logger: logger)
        case .http2(let setup, let value): await setup.handle(value: value, logger: logger)
        // The client left before its first request.
        case nil: break
        }
    }

    private func http1(
        _ channel: any Channel,
        _ logger: Logger
    ) -> EventLoopFuture<Connection> {
        let presence = ClientPresence()
        let responder = responder
        let number = UInt64.random(in: .min ... .max)
        let setup = HTTP1Channel(
            responder: { request, writer, channel in
                presence.beginWork()
                defer { presence.endWork() }
                try await responder.respond(to: request, writer, on: channel, of: number)
            },
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [
                    ClientPresenceHandler(presence), SlowRequestHandler(), SlowReaderHandler(),
                    LastResponseHandler(),
                ],
                idleTimeout: Self.idleTimeout
            )
        )
        return setup.setup(channel: channel, logger: logger).flatMapThrowing { http in
            let pipeline = channel.pipeline.syncOperations
            let heads = HeadHandler()
            try pipeline.addHandler(
                heads,
                position: .before(try pipeline.handler(type: HTTP1ToHTTPServerCodec.self))
            )
            try pipeline.addHandler(
                LastBytesHandler(heads),
                position: .after(try pipeline.handler(type: ProtocolDetectionHandler.self))
            )
            return .http1(setup, http)
        }
    }

    private func http2(
        _ channel: any Channel,
        _ logger: Logger
    ) -> EventLoopFuture<Connection> {
        let connection = HTTP2ConnectionHandler()
        let shared = NIOLoopBound(connection, eventLoop: channel.eventLoop)
        let responder = responder
        let number = UInt64.random(in: .min ... .max)
        let setup = HTTP2Channel(
            responder: { request, writer, stream in
                // The stream closes when the client resets it or disconnects; its end of the request alone says
                // nothing.
                let presence = ClientPresence()
                stream.closeFuture.whenComplete { _ in presence.end() }
                presence.beginWork()
                defer { presence.endWork() }
                try await responder.respond(
                    to: request,
                    writer,
                    on: stream,
                    of: number,
                    isHTTP2: true
                )
            },
            configuration: HTTP2ChannelConfiguration(
                idleTimeout: Self.idleTimeoutHTTP2,
                // A stream has no idle timeout: its client may listen for hours.
                streamConfiguration: HTTP1Channel.Configuration(
                    additionalChannelHandlers: [
                        HTTP2StreamHandler(of: shared.value), SlowRequestHandler(),
                        SlowReaderHandler(),
                    ]
                )
            )
        )
        return setup.setup(channel: channel, logger: logger).flatMapThrowing { http in
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(
                shared.value,
                position: .after(try pipeline.handler(type: NIOHTTP2Handler.self))
            )
            return .http2(setup, http)
        }
    }
}
