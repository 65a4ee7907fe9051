public import HTTPTypes
internal import KeelHTTP

/// A test server that gives scripted answers and records its requests.
///
/// `FaultServer` of KeelTestServer serves over real sockets, ``InProcessHTTPNetwork`` in process. The checks of
/// KeelConformance run on both.
public protocol HTTPTestOrigin: Sendable {
    /// `http` or `https`.
    var scheme: String { get }

    /// The host and port.
    var authority: String { get }

    /// The settings that a transport needs in order to reach the origin.
    var access: HTTPTestAccess { get }

    /// The requests whose heads have arrived, in the order of arrival.
    var requests: [HTTPTestRequest] { get }

    /// Appends an answer to the queue.
    func enqueue(_ answer: HTTPTestAnswer)

    /// Waits until at least this many requests have arrived, completely or only their heads, and returns all of them.
    func waitForRequests(_ count: Int, whole: Bool) async throws -> [HTTPTestRequest]

    /// Waits until the client has abandoned at least this many answers.
    func waitForDisconnects(_ count: Int) async throws -> [HTTPTestDisconnect]
}

/// A factory of origins that each live while a closure runs.
public protocol HTTPTestOrigins: Sendable {
    /// Runs an origin while `operation` runs.
    func run<Value: Sendable>(
        _ script: HTTPTestScript,
        operation: @Sendable (any HTTPTestOrigin) async throws -> Value
    ) async throws -> Value
}

/// The kind of origin that a check needs.
public struct HTTPTestScript: Sendable {
    /// The protocol of an origin.
    public enum Version: Sendable, Hashable {
        /// HTTP/1.1.
        case http1
        /// HTTP/2 over TLS, negotiated by ALPN.
        case http2
        /// HTTP/2 without a SETTINGS frame from the server.
        case silentHTTP2
    }

    /// The secure channel of an origin, or its defect.
    public enum Security: Sendable, Hashable {
        /// No TLS.
        case none
        /// TLS with a certificate that ``HTTPTestAccess`` makes a transport trust.
        case trusted
        /// The certificate has expired.
        case expired
        /// The certificate is not valid yet.
        case notYetValid
        /// The certificate is for another host.
        case wrongHost
        /// The certificate is self-signed.
        case selfSigned
        /// The certificate is signed by an unknown authority.
        case unknownAuthority
        /// A client certificate is required.
        case clientCertificate
        /// The port speaks plain HTTP although the scheme is `https`.
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
    /// The client certificate in ``HTTPTestOrigin/access``.
    public var client: ClientIdentity
    /// The pins in ``HTTPTestOrigin/access``.
    public var pins: Pins
    /// Computes an answer once the queue is empty.
    public var handler: @Sendable (HTTPTestRequest) async throws -> HTTPTestAnswer

    /// The certificate that a client presents.
    public enum ClientIdentity: Sendable, Hashable {
        /// No certificate.
        case none
        /// A certificate that the origin accepts.
        case known
        /// A certificate that the origin rejects.
        case unknown
    }

    /// The public keys that a transport accepts.
    public enum Pins: Sendable, Hashable {
        /// Any key.
        case none
        /// The origin's key and another key.
        case matching
        /// Only another key.
        case mismatching
    }

    /// Creates a description of an origin.
    ///
    /// - Parameters:
    ///   - version: The protocol; HTTP/2 requires TLS.
    ///   - security: The secure channel.
    ///   - client: The client certificate that the access carries.
    ///   - pins: The pins that the access carries.
    ///   - handler: Computes an answer once the queue is empty; the default echoes the request.
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

/// The settings that a transport needs in order to reach an origin.
public struct HTTPTestAccess: Sendable, Hashable {
    /// The certificate of the authority to trust, as PEM text; nil keeps the default trust.
    public var authorityPEM: String?
    /// The same certificate in DER.
    public var authorityDER: [UInt8]?
    /// The client's certificate as PEM text, if the client presents one.
    public var clientCertificatePEM: String?
    /// The private key of the client's certificate, as PEM text.
    public var clientPrivateKeyPEM: String?
    /// SHA-256 hashes of the public keys to accept; empty accepts any.
    public var pins: [[UInt8]] = []
    /// The timeout for opening a connection; nil applies the transport's default.
    public var connectTimeout: Duration?

    /// Creates an access without special settings.
    public init() {}
}

extension HTTPTestAnswer {
    /// Makes an answer with the request's body, and with its method and target in header fields.
    public static func echo(_ request: HTTPTestRequest) -> Self {
        var answer = bytes(request.body)
        answer.head.headerFields.append(.init(name: .echoMethod, value: request.method))
        answer.head.headerFields.append(.init(name: .echoTarget, value: request.target))
        return answer
    }
}

extension HTTPField.Name {
    /// The field that carries the method of a request in an echo.
    public static var echoMethod: Self { known("x-echo-method") }
    /// The field that carries the target of a request in an echo.
    public static var echoTarget: Self { known("x-echo-target") }
}
