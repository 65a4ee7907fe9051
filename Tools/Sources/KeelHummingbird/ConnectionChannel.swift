import HummingbirdCore
import Logging
import NIOCore

/// Sets up connections of HTTP/1.1 that have limits, and end their work when their client goes.
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
            responder: { request, writer, _ in
                presence.beginWork()
                defer { presence.endWork() }
                try await responder.respond(to: request, writer)
            },
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [
                    ClientPresenceHandler(presence), SlowRequestHandler(), SlowReaderHandler(),
                ],
                idleTimeout: .seconds(60)
            )
        )
        return setup.setup(channel: channel, logger: logger).map { http in
            Value(setup: setup, http: http)
        }
    }

    func handle(value: Value, logger: Logger) async {
        await value.setup.handle(value: value.http, logger: logger)
    }
}
