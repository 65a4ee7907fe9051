#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import AsyncHTTPClient
public import KeelHTTPCompression
import NIOCore

extension AsyncHTTPClientTransport {
    /// The configuration of a transport.
    public struct Configuration: Sendable, Hashable {
        /// The timeout for opening a connection, including its TLS handshake.
        ///
        /// Also limits the wait for a free connection, see ``poolTimeout``.
        public var connectTimeout: Duration = .seconds(10)

        /// The timeout for a free connection while all connections to the host are busy; nil means
        /// ``connectTimeout``, which is the maximum.
        ///
        /// After it, the call fails with `TransportError.Code.poolTimeout`.
        public var poolTimeout: Duration?

        /// The stall timeout of a request body: the time without any bytes taken by the network, after which the call
        /// fails with `TransportError.Code.writeTimeout`.
        public var writeTimeout: Duration = .seconds(60)

        /// How long an unused connection is kept open for the next call.
        public var idleConnectionLifetime: Duration = .seconds(60)

        /// The number of HTTP/1.1 connections to one host kept in concurrent use.
        ///
        /// Every eight of them have their own event loop, up to half the number of processors.
        public var connectionsPerHost = 8

        /// Whether HTTP/2 is used with servers that offer it.
        public var usesHTTP2 = true

        /// The trusted certificates, and the client certificate.
        public var security = TransportSecurity()

        /// The proxy; nil connects directly.
        public var proxy: Proxy?

        /// The limits on compressed response bodies; nil requests no compression.
        ///
        /// A `NetworkClient` over the transport requests compressed responses and decodes them, except for the calls
        /// listed under `ResponseDecompression`; the transport itself passes bodies on as sent. By default a body may
        /// grow to 16 MiB whatever its ratio, because harmless data, such as a table of equal rows, may compress to any
        /// ratio.
        public var decompression: DecompressionLimits? = DecompressionLimits(allowance: 16 << 20)

        /// Creates a configuration with the default limits.
        public init() {}

        var settings: HTTPClient.Configuration {
            var settings = HTTPClient.Configuration()
            settings.timeout = .init()
            settings.timeout.connect = TimeAmount(connectTimeout)
            settings.connectionPool.idleTimeout = TimeAmount(idleConnectionLifetime)
            settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
            settings.connectionPool.retryConnectionEstablishment = false
            settings.redirectConfiguration = .disallow
            settings.decompression = .disabled
            settings.httpVersion = usesHTTP2 ? .automatic : .http1Only
            settings.tlsConfiguration = security.tlsConfiguration
            settings.proxy = proxy?.settings
            // Keel's layers create spans. The client's own would count each exchange twice, contain
            // queries, and cost a fifth of a request even if unrecorded.
            settings.tracing.tracer = nil
            return settings
        }
    }

    /// A proxy for connections.
    public struct Proxy: Sendable, Hashable {
        private enum Kind: Hashable { case http, socks }

        private let kind: Kind
        private let host: String
        private let port: Int
        private let credentials: Credentials?

        private struct Credentials: Hashable {
            let user: String
            let password: String
        }

        /// Returns an HTTP proxy, asked for a tunnel with `CONNECT` (RFC 9110 section 9.3.6).
        public static func http(host: String, port: Int) -> Proxy {
            Proxy(kind: .http, host: host, port: port, credentials: nil)
        }

        /// Returns an HTTP proxy that requires a user and a password (Basic, RFC 7617).
        public static func http(
            host: String,
            port: Int,
            user: String,
            password: String
        ) -> Proxy {
            let credentials = Credentials(user: user, password: password)
            return Proxy(kind: .http, host: host, port: port, credentials: credentials)
        }

        /// Returns a SOCKS5 proxy without authorization (RFC 1928).
        public static func socks(host: String, port: Int = 1080) -> Proxy {
            Proxy(kind: .socks, host: host, port: port, credentials: nil)
        }

        var settings: HTTPClient.Configuration.Proxy {
            switch kind {
            case .socks:
                .socksServer(host: host, port: port)
            case .http:
                .server(
                    host: host,
                    port: port,
                    authorization: credentials.map {
                        .basic(username: $0.user, password: $0.password)
                    }
                )
            }
        }
    }
}

extension AsyncHTTPClientTransport.Proxy: CustomStringConvertible, CustomReflectable {
    /// The address, without the credentials.
    public var description: String { "\(host):\(port)" }

    public var customMirror: Mirror { Mirror(self, children: ["address": description]) }
}
#endif
