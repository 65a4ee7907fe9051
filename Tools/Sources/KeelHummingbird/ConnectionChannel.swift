import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypesHTTP1

/// Sets up HTTP/1.1 connections with limits, whose work is canceled when the client disconnects.
struct ConnectionChannel: ServerChildChannel {
    /// A connection.
    struct Value: ServerChildChannelValue {
        let setup: HTTP1Channel
        let http: HTTP1Channel.Value

        var channel: any Channel { http.channel }
    }

    let responder: HandlerResponder

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let presence = ClientPresence()
        let responder = responder
        let setup = HTTP1Channel(
            responder: { request, writer, channel in
                presence.beginWork()
                defer { presence.endWork() }
                try await responder.respond(to: request, writer, on: channel)
            },
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [
                    ClientPresenceHandler(presence), SlowRequestHandler(), SlowReaderHandler(),
                ],
                idleTimeout: .seconds(60)
            )
        )
        return setup.setup(channel: channel, logger: logger).flatMapThrowing { http in
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(
                HeadHandler(),
                position: .before(try pipeline.handler(type: HTTP1ToHTTPServerCodec.self))
            )
            return Value(setup: setup, http: http)
        }
    }

    func handle(value: Value, logger: Logger) async {
        await value.setup.handle(value: value.http, logger: logger)
    }
}
