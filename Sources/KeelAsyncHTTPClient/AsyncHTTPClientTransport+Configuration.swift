#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import AsyncHTTPClient
public import KeelHTTPCompression
import NIOCore

extension AsyncHTTPClientTransport {
    /// What all calls of a transport have in common.
    public struct Configuration: Sendable, Hashable {
        /// How long a connection may take to open, the secure channel included.
        ///
        /// It also bounds the wait for a free connection, see ``poolTimeout``.
        public var connectTimeout: Duration = .seconds(10)

        /// How long a call may wait for a free connection while all of its host are busy; nil is
        /// as long as ``connectTimeout``, which is the most.
        ///
        /// When it passes, the call fails with `TransportError.Code.poolTimeout`.
        public var poolTimeout: Duration?

        /// How long the network may take nothing more of a request body that waits for it.
        ///
        /// When it passes, the call fails with `TransportError.Code.writeTimeout`.
        public var writeTimeout: Duration = .seconds(60)

        /// How long an unused connection is kept open for the next call.
        public var idleConnectionLifetime: Duration = .seconds(60)

        /// How many HTTP/1.1 connections to one host are kept in use at once.
        ///
        /// Each eight of them have an event loop of their own, as far as half of the processors go:
        /// a gateway that calls one server sets this to eight times the processors it may take.
        public var connectionsPerHost = 8

        /// Whether HTTP/2 is used with servers that offer it.
        public var usesHTTP2 = true

        /// Whom to trust, and what to show servers that ask.
        public var security = TransportSecurity()

        /// The proxy in between; nil connects directly.
        public var proxy: Proxy?

        /// How far a compressed response body may grow; nil asks for no compressed responses.
        ///
        /// A `NetworkClient` over the transport asks for compressed responses and decodes them;
        /// `ResponseDecompression` says which calls are left alone. The transport itself hands bodies
        /// on as the server sent them. By default a body may grow to 16 MiB whatever its ratio, because
        /// harmless data, such as a table of equal rows, can be compressed to any ratio.
        public var decompression: DecompressionLimits? = DecompressionLimits(allowance: 16 << 20)

        /// Creates a configuration with the usual limits.
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
            // Spans are the business of Keel's layers. The client's own would count each exchange
            // twice, hold queries, and cost a fifth of a request where nobody records them.
            settings.tracing.tracer = nil
            return settings
        }
    }

    /// A proxy that connections go through.
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

        /// An HTTP proxy, asked for a tunnel with `CONNECT` (RFC 9110 section 9.3.6).
        public static func http(host: String, port: Int) -> Proxy {
            Proxy(kind: .http, host: host, port: port, credentials: nil)
        }

        /// An HTTP proxy that asks for a user and a password (Basic, RFC 7617).
        public static func http(
            host: String,
            port: Int,
            user: String,
            password: String
        ) -> Proxy {
            let credentials = Credentials(user: user, password: password)
            return Proxy(kind: .http, host: host, port: port, credentials: credentials)
        }

        /// A SOCKS5 proxy without authorization (RFC 1928).
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
