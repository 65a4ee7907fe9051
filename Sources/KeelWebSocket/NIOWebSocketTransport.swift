#if WebSocket
public import HTTPTypes
public import KeelHTTP
import NIOCore
import NIOSSL

/// A WebSocket transport on SwiftNIO, for Linux and Apple's systems.
///
/// It speaks RFC 6455 over HTTP/1.1, with permessage-deflate (RFC 7692) on the system's zlib.
/// Secure connections check the certificate and the host's name. Each connection is a socket of its
/// own: there is no pool, and nothing to shut down.
///
/// ```swift
/// let transport = NIOWebSocketTransport()
/// try await transport.withConnection(to: request) { connection in
///     try await connection.send("hello")
///     print(try await connection.receive() ?? .text("closed"))
/// }
/// ```
public struct NIOWebSocketTransport: WebSocketTransport {
    /// The certificates that are trusted besides, or instead of, those of the system.
    public struct Trust: Sendable, Hashable {
        let pem: [UInt8]?

        /// The certificates that the system trusts.
        public static let system = Trust(pem: nil)

        /// Only these certificates, in PEM format: for a server with a certificate of its own.
        public static func only(pem: [UInt8]) -> Trust { Trust(pem: pem) }
    }

    private let trust: Trust
    private let clock: any Clock<Duration>

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - trust: Which certificates are trusted.
    ///   - clock: The clock that limits and pings are measured on.
    public init(trust: Trust = .system, clock: any Clock<Duration> = ContinuousClock()) {
        self.trust = trust
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
            let tls = exchange.isSecure ? try makeTLS() : nil
            return try await WebSocketOpening(exchange, configuration, tls, clock).run()
        } catch {
            throw error.located(at: url)
        }
    }

    private func makeTLS() throws(WebSocketError) -> NIOSSLContext {
        do {
            var settings = TLSConfiguration.makeClientConfiguration()
            settings.applicationProtocols = ["http/1.1"]
            if let pem = trust.pem {
                settings.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(pem))
            }
            return try NIOSSLContext(configuration: settings)
        } catch {
            throw WebSocketError(
                .invalidRequest,
                "The trusted certificates cannot be read.",
                cause: error
            )
        }
    }
}
#else
/// A WebSocket transport on SwiftNIO; it takes the trait `WebSocket`.
@available(
    *,
    unavailable,
    message: "Enable the 'WebSocket' trait of the keel package to use this transport."
)
public enum NIOWebSocketTransport: Sendable {}
#endif
