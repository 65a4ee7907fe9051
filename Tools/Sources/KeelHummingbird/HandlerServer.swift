public import HTTPTypes
import HummingbirdCore
import KeelHTTP
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
/// Interim responses that the handler gives (`HTTPCall.onInterimResponse`) go to clients of HTTP/1.1, 64 for
/// a request at most, as long as the client takes them.
///
/// It has no TLS, and authorizes no requests unless it is told to. On an address other than the loopback
/// interface it therefore starts only with an ``Access`` that says whose requests it answers.
public struct HandlerServer: Service {
    /// Whom a server answers.
    public struct Access: Sendable {
        fileprivate enum Kind: Sendable {
            case sameMachine
            case everybody
            case authorized(@Sendable (HTTPRequest) async -> Bool)
        }

        fileprivate let kind: Kind

        /// Programs on the same machine.
        ///
        /// The server starts only on the loopback interface.
        public static let sameMachine = Self(kind: .sameMachine)

        /// Everybody who reaches the address.
        ///
        /// Use it where a proxy in front of the server, or the handler itself, refuses requests.
        public static let everybody = Self(kind: .everybody)

        /// Those whose requests are let in; other requests are answered with status 401.
        ///
        /// Compare a token in constant time, so that it cannot be guessed byte by byte; and put TLS before the
        /// server, so that nobody reads it on the way.
        ///
        /// - Parameter isAllowed: Whether a request is let in, by its head.
        /// - Returns: The access.
        public static func authorized(
            _ isAllowed: @escaping @Sendable (HTTPRequest) async -> Bool
        ) -> Self {
            Self(kind: .authorized(isAllowed))
        }
    }

    /// The address is not one of the loopback interface, and no access was given for it.
    public struct ExposedAddress: Error, CustomStringConvertible {
        /// The address.
        public let host: String

        public var description: String {
            "“\(host)” is not a loopback address: everybody who reaches it could do all that the handler "
                + "does. Pass an access that authorizes requests, or everybody if that is intended."
        }
    }

    private let server: Server<ConnectionChannel>
    private let exposed: ExposedAddress?
    private let onShutdown: @Sendable () -> Void

    /// Creates a server; it listens once it runs.
    ///
    /// - Parameters:
    ///   - handler: What answers.
    ///   - host: The address to listen on.
    ///   - port: The port, 0 for a free one.
    ///   - access: Whom it answers. ``run()`` throws ``ExposedAddress`` where the address is not one of the
    ///     loopback interface and this says ``Access/sameMachine``, the default.
    ///   - mostConnections: The most connections at a time; each needs an open file.
    ///   - logger: Where failures of connections are told.
    ///   - onListening: Called with the port once connections are accepted.
    ///   - onShutdown: Called when a graceful shutdown begins: the handler should then end answers
    ///     that would go on for ever.
    public init(
        _ handler: some ServingHandler,
        host: String = "127.0.0.1",
        port: Int = 0,
        access: Access = .sameMachine,
        mostConnections: Int = 16_384,
        logger: Logger,
        onListening: @escaping @Sendable (_ port: Int) async -> Void = { _ in },
        onShutdown: @escaping @Sendable () -> Void = {}
    ) {
        self.onShutdown = onShutdown
        var guarded: any ServingHandler = handler
        var exposed: ExposedAddress?
        switch access.kind {
        case .everybody: break
        case .authorized(let isAllowed):
            guarded = AuthorizingHandler(handler: handler, isAllowed: isAllowed)
        case .sameMachine where LoopbackAddress.contains(host): break
        case .sameMachine: exposed = ExposedAddress(host: host)
        }
        self.exposed = exposed
        server = Server(
            childChannelSetup: ConnectionChannel(responder: HandlerResponder(guarded, logger)),
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
        if let exposed { throw exposed }
        try await withGracefulShutdownHandler {
            try await server.run()
        } onGracefulShutdown: {
            onShutdown()
        }
    }
}

/// A handler that answers only those who may ask.
private struct AuthorizingHandler: ServingHandler {
    let handler: any ServingHandler
    let isAllowed: @Sendable (HTTPRequest) async -> Bool

    func respond(to call: HTTPCall) async -> HTTPReply {
        guard await isAllowed(call.head) else {
            var reply = HTTPReply.text(
                .unauthorized,
                "This server answers authorized requests only.\n"
            )
            reply.head.headerFields[.wwwAuthenticate] = "Bearer"
            return reply
        }
        return await handler.respond(to: call)
    }
}
