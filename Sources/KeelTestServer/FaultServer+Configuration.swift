#if TestServer
public import KeelTestKit

extension FaultServer {
    /// Where and how a server listens.
    public struct Configuration: Sendable {
        /// The secure channel; nil speaks plain text.
        public var tls: TLS?

        /// The protocols that are offered, the preferred one first.
        ///
        /// With TLS, ALPN chooses. Without it, a client that starts with HTTP/2's preface (prior
        /// knowledge) gets HTTP/2, if that is among them.
        public var protocols: [Version]

        /// What is unusual about the server's HTTP/2.
        public var http2 = HTTP2()

        /// How much of a request is read before it is answered, where the answer does not say.
        public var reading = Answer.Reading.wholeRequest

        /// How many bytes of each request body are kept; of the rest only the number.
        public var keptBodyBytes = 64 << 20

        /// The clock of delays and throttles.
        public var clock: any Clock<Duration>

        /// Creates a configuration.
        ///
        /// - Parameters:
        ///   - tls: The secure channel; nil speaks plain text.
        ///   - protocols: The protocols that are offered.
        ///   - clock: The clock of delays and throttles.
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

    /// What is unusual about a server's HTTP/2.
    public struct HTTP2: Sendable, Hashable {
        /// Whether the server sends its settings; without them it never says a word.
        public var sendsSettings = true
        /// How many streams a client may have open; nil leaves it to the client.
        public var concurrentStreams: UInt32?
        /// How many bytes of a body a client may send before it is allowed more.
        public var initialWindow: UInt32?

        /// Creates the usual settings.
        public init() {}
    }

    /// A server's secure channel, or what goes wrong with it.
    public struct TLS: Sendable {
        /// The server's certificates and key.
        public var identity: TestIdentity
        /// Who must have signed the client's certificate; nil asks for none.
        public var clientAuthority: TestAuthority?
        /// What goes wrong before the handshake is done.
        public var fault: HandshakeFault?
        /// The highest version; nil is the newest that the library has.
        public var maximumVersion: TLSVersion?

        /// Creates a secure channel.
        public init(_ identity: TestIdentity) {
            self.identity = identity
        }

        /// A secure channel that asks for a client's certificate, signed by `authority`.
        public func requiringClients(of authority: TestAuthority) -> Self {
            var copy = self
            copy.clientAuthority = authority
            return copy
        }

        /// A secure channel whose handshake fails.
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

    /// What a server does in place of a handshake, once the client has begun one.
    public enum HandshakeFault: Sendable, Hashable, CaseIterable {
        /// It keeps silent until the client hangs up.
        case stall
        /// It closes the connection.
        case close
        /// It resets the connection.
        case reset
        /// It answers in plain HTTP, as a server does that knows no TLS.
        case plainText
        /// It sends bytes that are no TLS.
        case garbage
    }
}
#endif
