import Foundation
public import HTTPTypes
import HummingbirdCore
import KeelHTTP
public import KeelServing
public import Logging
import NIOCore
import NIOPosix
internal import NIOSSL
public import ServiceLifecycle
import UnixSignals

/// A server of HTTP/1.1 and HTTP/2 on Hummingbird whose requests a handler answers.
///
/// Both protocols share one port: a connection that begins with the preface of HTTP/2 speaks HTTP/2, others HTTP/1.1.
///
/// The server is a service: run it in a `ServiceGroup`, which ends it on a signal. A graceful shutdown answers the
/// accepted requests first.
///
/// The resources that a client can hold are limited:
///
/// - The server closes a connection without a complete request for one minute. It asks a client of HTTP/2 without a
///   stream to leave after five minutes, and closes the connection 30 seconds later.
/// - It closes a connection whose request body arrives at less than 1 KiB per second while the handler reads it, or
///   whose client takes less than 64 KiB of a waiting response in 30 seconds. Over HTTP/2 it closes the stream instead.
///   Requests of gRPC may pause.
/// - It closes a connection of HTTP/2 whose client three times sends a ping within five seconds of the one before,
///   while nothing is sent to it.
/// - It cancels the handler's task when the client disconnects before the response is complete. Over HTTP/1.1, a client
///   that closes its side counts as disconnected.
/// - It discards up to 16 MiB of a body that the handler has not read, so that the client can read the response, and
///   then closes the connection. Over HTTP/2 it ends the stream instead.
/// - It does not accept further connections once the maximum is reached; they wait.
///
/// A handler ends a connection of HTTP/1.1 after its response with the field `Connection: close`. The server does this
/// after a request with the field `Upgrade`, which it answers in HTTP/1.1, and after one with the method `CONNECT`.
///
/// The server sends a handler's interim responses (`HTTPCall.onInterimResponse`) to clients of HTTP/1.1 and HTTP/2, at
/// most 64 per request, and drops those that the client does not take at once. Such a client that sends
/// `Expect: 100-continue` is told to continue when the handler begins to read the body.
///
/// By default, the server has no TLS and authorizes no requests. On an address outside the loopback interface, it
/// starts only with an explicit ``Access``.
public struct HandlerServer: Service {
    /// The clients whose requests a server answers.
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

        /// Every client that reaches the address.
        ///
        /// Use this if a proxy or the handler itself authorizes requests.
        public static let everybody = Self(kind: .everybody)

        /// Clients whose requests are allowed; other requests receive status 401.
        ///
        /// Preflights, which browsers send without credentials, always reach the handler. A page that may read the
        /// handler's replies can also read the status 401.
        ///
        /// Compare tokens in constant time, and use ``TLS``, or a proxy with TLS.
        ///
        /// - Parameter isAllowed: Returns whether to allow a request, given its head.
        /// - Returns: The access.
        public static func authorized(
            _ isAllowed: @escaping @Sendable (HTTPRequest) async -> Bool
        ) -> Self {
            Self(kind: .authorized(isAllowed))
        }
    }

    /// The error for an address outside the loopback interface without an explicit access.
    public struct ExposedAddress: Error, CustomStringConvertible {
        /// The address.
        public let host: String

        public var description: String {
            "“\(host)” is not a loopback address: every client that reaches it could use the handler. "
                + "Pass an access that authorizes requests, or .everybody if that is intended."
        }
    }

    private let server: Server<ConnectionChannel>
    private let exposed: ExposedAddress?
    private let onShutdown: @Sendable () -> Void

    /// Creates a server, which listens once it runs.
    ///
    /// - Parameters:
    ///   - handler: The handler of requests.
    ///   - host: The address to listen on.
    ///   - port: The port; 0 for a free one.
    ///   - access: The clients that the server answers. With ``Access/sameMachine``, ``run()`` throws
    ///     ``ExposedAddress`` for an address outside the loopback interface.
    ///   - tls: The certificate for connections over TLS; nil for connections without it.
    ///   - mostConnections: The maximum number of simultaneous connections; each needs an open file.
    ///   - logger: The logger of failed connections.
    ///   - onListening: Called with the port once the server accepts connections.
    ///   - onShutdown: Called when a graceful shutdown begins; end endless responses here.
    public init(
        _ handler: some ServingHandler,
        host: String = "127.0.0.1",
        port: Int = 0,
        access: Access = .sameMachine,
        tls: TLS? = nil,
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
            childChannelSetup: ConnectionChannel(
                responder: HandlerResponder(guarded, logger, scheme: tls == nil ? "http" : "https"),
                tls: tls?.context
            ),
            configuration: ServerConfiguration(
                address: .hostname(host, port: port),
                // After an outage, thousands of clients connect at once; the system limits this to its own maximum.
                backlog: 4_096,
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

extension HandlerServer {
    /// Prints the address, and answers programs on the same machine until SIGTERM or SIGINT.
    package static func serveUntilSignal(
        _ handler: some ServingHandler,
        port: Int,
        mostConnections: Int = 16_384,
        logger: Logger
    ) async throws {
        let server = HandlerServer(
            handler,
            port: port,
            mostConnections: mostConnections,
            logger: logger
        ) { port in
            print("http://127.0.0.1:\(port)")
            fflush(nil)
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [server],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger
            )
        )
        try await group.run()
    }
}

/// A handler that refuses unauthorized requests.
private struct AuthorizingHandler: ServingHandler {
    let handler: any ServingHandler
    let isAllowed: @Sendable (HTTPRequest) async -> Bool

    func respond(to call: HTTPCall) async -> HTTPReply {
        if Self.isPreflight(call.head) { return await handler.respond(to: call) }
        guard await isAllowed(call.head) else {
            var reply = HTTPReply.text(
                .unauthorized,
                "This server answers authorized requests only.\n"
            )
            reply.head.headerFields[.wwwAuthenticate] = "Bearer"
            await share(&reply, with: call.head)
            return reply
        }
        return await handler.respond(to: call)
    }

    /// Returns whether a request is a preflight (Fetch Standard, 4.8).
    private static func isPreflight(_ head: HTTPRequest) -> Bool {
        head.method == .options && head.headerFields[.origin] != nil
            && head.headerFields[.accessControlRequestMethod] != nil
    }

    /// Lets the page that sent a request read the reply, if the handler lets it read others.
    private func share(_ reply: inout HTTPReply, with head: HTTPRequest) async {
        guard let origin = head.headerFields[.origin] else { return }
        var question = head
        question.method = .options
        question.headerFields = [
            .origin: origin, .accessControlRequestMethod: head.method.rawValue,
        ]
        let fields = await handler.respond(to: HTTPCall(question)).head.headerFields
        reply.head.headerFields[.accessControlAllowOrigin] = fields[.accessControlAllowOrigin]
        reply.head.headerFields[.accessControlAllowCredentials] =
            fields[.accessControlAllowCredentials]
        reply.head.headerFields[.vary] = fields[.vary]
    }
}

extension HandlerServer {
    /// The certificate of a server, for connections over TLS 1.2 and 1.3.
    ///
    /// Clients choose HTTP/2 or HTTP/1.1 in the handshake (RFC 7301). The files are read once: start the server again
    /// after a renewal.
    public struct TLS: Sendable {
        let context: NIOSSLContext

        /// Reads a certificate.
        ///
        /// - Parameters:
        ///   - certificates: The path of a PEM file with the server's certificate, followed by those that lead to its
        ///     authority.
        ///   - key: The path of a PEM file with the private key of the first certificate.
        /// - Throws: An error if a file cannot be read, or if the key is not that of the certificate.
        public init(certificates: String, key: String) throws {
            var settings = TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(certificates)
                    .map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
            )
            settings.minimumTLSVersion = .tlsv12
            settings.applicationProtocols = ["h2", "http/1.1"]
            context = try NIOSSLContext(configuration: settings)
        }
    }
}
