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
/// What a client can hold is limited:
///
/// - a connection that brings no whole request for a minute is closed, and so is one whose request
///   body comes at less than a kilobyte a second while the handler wants more of it;
/// - one whose client takes less than 64 KiB of its answer in 30 seconds, while more is waiting, is
///   closed;
/// - one whose client goes, or closes its side, while it is being answered ends the answer: the
///   handler's task is cancelled;
/// - of a body that the handler has left unread, 16 MiB are passed over, so that the client can read
///   its answer; then the connection is closed;
/// - further connections wait, unaccepted, once there are as many as may be.
///
/// It asks nobody who they are, and has no TLS. On an address other than the loopback interface
/// everybody who reaches it is answered, unless the handler refuses: put a proxy before it that
/// authenticates.
public struct HandlerServer: Service {
    private let server: Server<ConnectionChannel>
    private let onShutdown: @Sendable () -> Void

    /// Creates a server; it listens once it runs.
    ///
    /// - Parameters:
    ///   - handler: What answers.
    ///   - host: The address to listen on.
    ///   - port: The port, 0 for a free one.
    ///   - mostConnections: The most connections at a time; each needs an open file.
    ///   - logger: Where failures of connections are told.
    ///   - onListening: Called with the port once connections are accepted.
    ///   - onShutdown: Called when a graceful shutdown begins: the handler should then end answers
    ///     that would go on for ever.
    public init(
        _ handler: some ServingHandler,
        host: String = "127.0.0.1",
        port: Int = 0,
        mostConnections: Int = 16_384,
        logger: Logger,
        onListening: @escaping @Sendable (_ port: Int) async -> Void = { _ in },
        onShutdown: @escaping @Sendable () -> Void = {}
    ) {
        self.onShutdown = onShutdown
        server = Server(
            childChannelSetup: ConnectionChannel(responder: HandlerResponder(handler, logger)),
            configuration: ServerConfiguration(
                address: .hostname(host, port: port),
                availableConnectionsDelegate: MaximumAvailableConnections(
                    mostConnections,
                    logger: logger
                )
            ),
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
