import HTTPTypes

/// A server for one check: it answers what it is told to and remembers what it was asked.
///
/// `FaultServer` of KeelTestServer is one over real sockets; ``InProcessHTTPNetwork`` has them
/// without any. The checks of KeelConformance run on either.
public protocol HTTPTestOrigin: Sendable {
    /// `http` or `https`.
    var scheme: String { get }

    /// The host and the port.
    var authority: String { get }

    /// What a transport needs to know before it can reach the origin.
    var access: HTTPTestAccess { get }

    /// The requests whose heads have arrived, in that order.
    var requests: [HTTPTestRequest] { get }

    /// Adds an answer after those that are left.
    func enqueue(_ answer: HTTPTestAnswer)

    /// Waits until so many requests have arrived: to their end, or their heads only.
    func waitForRequests(_ count: Int, whole: Bool) async throws -> [HTTPTestRequest]

    /// Waits until the client has given up so many answers.
    func waitForDisconnects(_ count: Int) async throws -> [HTTPTestDisconnect]
}

/// Makes origins, each for as long as a closure runs.
public protocol HTTPTestOrigins: Sendable {
    /// Runs an origin for as long as `operation` runs.
    func run<Value: Sendable>(
        _ script: HTTPTestScript,
        operation: @Sendable (any HTTPTestOrigin) async throws -> Value
    ) async throws -> Value
}

/// What kind of origin a check asks for.
public struct HTTPTestScript: Sendable {
    /// The protocol that the origin speaks.
    public enum Version: Sendable, Hashable {
        /// HTTP/1.1.
        case http1
        /// HTTP/2, over TLS by ALPN.
        case http2
        /// HTTP/2 whose settings never come.
        case silentHTTP2
    }

    /// The origin's secure channel, or what is wrong with it.
    public enum Security: Sendable, Hashable {
        /// No TLS.
        case none
        /// TLS with a certificate that ``HTTPTestAccess`` lets a transport trust.
        case trusted
        /// The certificate is expired.
        case expired
        /// The certificate is not valid yet.
        case notYetValid
        /// The certificate is for another host.
        case wrongHost
        /// The certificate is signed by itself.
        case selfSigned
        /// The certificate is signed by somebody unknown.
        case unknownAuthority
        /// A client's certificate is demanded.
        case clientCertificate
        /// The port speaks plain HTTP although `https` is asked for.
        case plainText
        /// The port speaks no known protocol.
        case garbage
        /// The handshake is never answered.
        case stallingHandshake
        /// The connection is closed during the handshake.
        case closingHandshake
        /// The connection is reset during the handshake.
        case resettingHandshake
    }

    /// The protocol.
    public var version: Version
    /// The secure channel.
    public var security: Security
    /// Which client certificate the access carries, where there is one: see ``ClientIdentity``.
    public var client: ClientIdentity
    /// Which pins the access carries, where the check is about pinning.
    public var pins: Pins
    /// Computes the answers after those in the queue.
    public var handler: @Sendable (HTTPTestRequest) async throws -> HTTPTestAnswer

    /// What a client shows of itself.
    public enum ClientIdentity: Sendable, Hashable {
        /// Nothing.
        case none
        /// A certificate that the origin accepts.
        case known
        /// A certificate that the origin does not accept.
        case unknown
    }

    /// Which public keys a transport is to accept.
    public enum Pins: Sendable, Hashable {
        /// Any.
        case none
        /// The origin's, beside another one.
        case matching
        /// Another one only.
        case mismatching
    }

    /// Creates a description of an origin.
    ///
    /// - Parameters:
    ///   - version: The protocol; HTTP/2 is spoken over TLS only.
    ///   - security: The secure channel.
    ///   - client: Which client certificate the access carries.
    ///   - pins: Which pins the access carries.
    ///   - handler: Computes the answers after those in the queue; the default echoes the request.
    public init(
        version: Version = .http1,
        security: Security = .none,
        client: ClientIdentity = .none,
        pins: Pins = .none,
        handler: @escaping @Sendable (HTTPTestRequest) async throws -> HTTPTestAnswer = {
            .echo($0)
        }
    ) {
        self.version = version
        self.security = security
        self.client = client
        self.pins = pins
        self.handler = handler
    }
}

/// What a transport needs to know before it can reach an origin.
public struct HTTPTestAccess: Sendable, Hashable {
    /// The certificate of the authority to trust, as PEM text; nil leaves trust as it is.
    public var authorityPEM: String?
    /// The same in DER.
    public var authorityDER: [UInt8]?
    /// The client's certificate as PEM text, if it is to show one.
    public var clientCertificatePEM: String?
    /// The private key of that as PEM text.
    public var clientPrivateKeyPEM: String?
    /// SHA-256 hashes of the public keys to accept; empty accepts any.
    public var pins: [[UInt8]] = []
    /// How long a connection may take to open; nil leaves it to the transport.
    public var connectTimeout: Duration?

    /// Creates an access that needs nothing.
    public init() {}
}

extension HTTPTestAnswer {
    /// Returns the body of a request, with its method and target in header fields.
    public static func echo(_ request: HTTPTestRequest) -> Self {
        var answer = bytes(request.body)
        answer.head.headerFields.append(.init(name: .echoMethod, value: request.method))
        answer.head.headerFields.append(.init(name: .echoTarget, value: request.target))
        return answer
    }
}
