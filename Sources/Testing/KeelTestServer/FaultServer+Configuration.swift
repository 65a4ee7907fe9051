#if TestServer
public import KeelTestKit

extension FaultServer {
    /// The address and protocols of a server.
    public struct Configuration: Sendable {
        /// The TLS of the server; nil for plaintext.
        public var tls: TLS?

        /// The offered protocols, in order of preference.
        ///
        /// With TLS, ALPN selects the protocol. Without TLS, a client that starts with HTTP/2's preface (prior
        /// knowledge) gets HTTP/2 if it is offered.
        public var protocols: [Version]

        /// The peculiarities of the server's HTTP/2.
        public var http2 = HTTP2()

        /// The amount of a request to read before it is answered, unless the answer specifies it.
        public var reading = Answer.Reading.wholeRequest

        /// The maximum number of bytes to keep of each request body; the others are only counted.
        public var recordedBodyByteLimit = 64 << 20

        /// The clock of delays and throttles.
        public var clock: any Clock<Duration>

        /// Creates a configuration.
        public init(
            tls: TLS? = nil,
            protocols: [Version] = [.http2, .http1],
            clock: any Clock<Duration> = ContinuousClock()
        ) {
            self.tls = tls
            self.protocols = protocols
            self.clock = clock
        }
    }

    /// A version of HTTP.
    public enum Version: String, Sendable, Hashable, CaseIterable {
        /// HTTP/1.1, RFC 9112.
        case http1 = "http/1.1"
        /// HTTP/2, RFC 9113.
        case http2 = "h2"
    }

    /// The peculiarities of a server's HTTP/2.
    public struct HTTP2: Sendable, Hashable {
        /// Whether the server sends its settings; without them it sends nothing at all.
        public var sendsSettings = true
        /// The announced maximum of concurrent streams, which is not enforced; nil announces none.
        public var concurrentStreams: UInt32?
        /// The number of bytes of a body that a client may send before a window update; nil for HTTP/2's default of
        /// 65,535.
        public var initialWindow: UInt32?

        /// Creates the default settings.
        public init() {}
    }

    /// The TLS of a server, with its faults.
    public struct TLS: Sendable {
        /// The certificate and key of the server.
        public var identity: TestIdentity
        /// The authority that must have signed the client's certificate; nil requests no certificate.
        public var clientAuthority: TestAuthority?
        /// The fault that occurs before the handshake is complete.
        public var fault: HandshakeFault?
        /// The maximum version; nil is the latest that the library supports.
        public var maximumVersion: TLSVersion?

        /// Creates a TLS configuration without faults.
        public init(_ identity: TestIdentity) {
            self.identity = identity
        }

        /// Returns a copy that requires a client certificate signed by `authority`.
        public func requiringClients(of authority: TestAuthority) -> Self {
            var copy = self
            copy.clientAuthority = authority
            return copy
        }

        /// Returns a copy whose handshake fails.
        public func failing(with fault: HandshakeFault) -> Self {
            var copy = self
            copy.fault = fault
            return copy
        }
    }

    /// A version of TLS.
    public enum TLSVersion: Sendable, Hashable {
        /// TLS 1.2, RFC 5246.
        case tls12
        /// TLS 1.3, RFC 8446.
        case tls13
    }

    /// The behavior of a server in place of a handshake, once the client has begun one.
    public enum HandshakeFault: Sendable, Hashable, CaseIterable {
        /// The server sends nothing until the client hangs up.
        case stall
        /// The server closes the connection.
        case close
        /// The server resets the connection.
        case reset
        /// The server answers in plain HTTP, like one without TLS.
        case plainText
        /// The server sends bytes that are not TLS.
        case garbage
    }
}
#endif
