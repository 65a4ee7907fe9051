import HummingbirdCore
public import KeelServing
public import Logging
import NIOCore
import NIOPosix
public import ServiceLifecycle

/// A server on Hummingbird that lets a handler answer its requests, over HTTP/1.1.
///
/// It is a service: run it in a `ServiceGroup`, which ends it on a signal. Ending it gracefully lets
/// what was accepted be answered first.
///
/// A connection that brings no whole request for a minute is closed, and so is one whose request
/// body comes at less than a kilobyte a second.
public struct HandlerServer: Service {
    private let server: Server<HTTP1Channel>
    private let onShutdown: @Sendable () -> Void

    /// Creates a server; it listens once it runs.
    ///
    /// - Parameters:
    ///   - handler: What answers.
    ///   - host: The address to listen on.
    ///   - port: The port, 0 for a free one.
    ///   - logger: Where failures of connections are told.
    ///   - onListening: Called with the port once connections are accepted.
    ///   - onShutdown: Called when a graceful shutdown begins: the handler should then end answers
    ///     that would go on for ever.
    public init(
        _ handler: some ServingHandler,
        host: String = "127.0.0.1",
        port: Int = 0,
        logger: Logger,
        onListening: @escaping @Sendable (_ port: Int) async -> Void = { _ in },
        onShutdown: @escaping @Sendable () -> Void = {}
    ) {
        self.onShutdown = onShutdown
        let responder = HandlerResponder(handler, logger)
        server = Server(
            childChannelSetup: HTTP1Channel(
                responder: { request, writer, _ in
                    try await responder.respond(to: request, writer)
                },
                configuration: HTTP1Channel.Configuration(
                    additionalChannelHandlers: [SlowRequestHandler()],
                    idleTimeout: .seconds(60)
                )
            ),
            configuration: ServerConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { await onListening($0.localAddress?.port ?? port) },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: logger
        )
    }

    public func run() async throws {
        try await withGracefulShutdownHandler {
            try await server.run()
        } onGracefulShutdown: {
            onShutdown()
        }
    }
}
