#if WebSocket
public import HTTPTypes
public import KeelHTTP
public import KeelWebSocket

/// A WebSocket transport on SwiftNIO, for Linux and Apple's systems.
///
/// It speaks RFC 6455 over HTTP/1.1, with permessage-deflate (RFC 7692) on the system's zlib. Secure connections, TLS
/// 1.2 or newer, verify the certificate, the host name and the `WebSocketConfiguration.pins`. Each connection has its
/// own socket, without a pool.
///
/// All connections of a process share up to four event loops, separate from those of HTTP clients. Messages are
/// compressed there, so a large one delays the other WebSockets of its loop.
///
/// To apply the pins, credentials and observers of a `NetworkClient`, open WebSockets through
/// `NetworkClient.webSocketTransport(over:)`.
///
/// ```swift
/// let transport = NIOWebSocketTransport()
/// try await transport.withConnection(to: request) { connection in
///     try await connection.send("hello")
///     print(try await connection.receive() ?? .text("closed"))
/// }
/// ```
public struct NIOWebSocketTransport: WebSocketTransport {
    /// The trusted certificates.
    public struct Trust: Sendable, Hashable {
        let pem: [UInt8]?

        /// Trusts the certificates that the system trusts.
        public static let system = Trust(pem: nil)

        /// Trusts only these certificates, in PEM format, for servers with a private certificate.
        public static func only(pem: [UInt8]) -> Trust { Trust(pem: pem) }
    }

    public let features: HTTPTransportFeatures = [.pinning, .clientCertificates]

    private let tls: SecureContext
    private let clock: any Clock<Duration>

    /// Creates a transport; the identity is for servers that request one, and the clock for timeouts and pings.
    ///
    /// The certificates are read once, when the first secure connection is opened.
    public init(
        trust: Trust = .system,
        identity: Identity? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        tls = SecureContext(trust, identity)
        self.clock = clock
    }

    public func withConnection<Value>(
        to request: HTTPRequest,
        configuration: WebSocketConfiguration,
        _ body: (WebSocketConnection) async throws -> Value
    ) async throws -> Value {
        let channel = try await open(request, configuration)
        return try await withTaskCancellationHandler {
            try await withTaskGroup(of: Void.self) { group in
                group.addTask { await channel.watch() }
                let outcome: Result<Value, any Error>
                do {
                    outcome = .success(try await body(WebSocketConnection(channel)))
                    await channel.shutdown(WebSocketClose(.normal))
                } catch {
                    outcome = .failure(error)
                    await channel.shutdown(WebSocketClose(.goingAway))
                }
                group.cancelAll()
                return outcome
            }.get()
        } onCancel: {
            channel.abort(WebSocketError(.cancelled))
        }
    }

    private func open(
        _ request: HTTPRequest,
        _ configuration: WebSocketConfiguration
    ) async throws(WebSocketError) -> NIOWebSocketChannel {
        let url = request.redactedURL
        do throws(WebSocketError) {
            var random = SystemRandomNumberGenerator()
            let exchange = try UpgradeExchange(request, configuration, using: &random)
            // Without TLS there is no key to compare.
            if !exchange.isSecure, let pins = configuration.pins,
                !pins.allows(nil, for: exchange.host)
            {
                throw WebSocketError(transport: TransportError(.tlsPinMismatch))
            }
            return try await WebSocketOpening(exchange, configuration, tls, clock).run()
        } catch {
            throw error.located(at: url)
        }
    }
}
#else
/// A WebSocket transport on SwiftNIO; requires the trait `WebSocket`.
@available(
    *,
    unavailable,
    message: "Enable the 'WebSocket' trait of the keel package to use this transport."
)
public enum NIOWebSocketTransport: Sendable {}
#endif
