public import KeelCore

extension TransportError {
    /// The kinds of failure; later versions may add more.
    public struct Code: KeelErrorCode {
        public let kind: ErrorKind
        public var name: String { kind.name }
        public var isTransient: Bool { kind.isTransient }
        public var advice: String { kind.advice }

        public init(kind: ErrorKind) { self.kind = kind }
    }
}

// MARK: - Before the request is sent

extension TransportError.Code {
    /// The request could not be built.
    public static let invalidRequest = Self(
        name: "invalidRequest",
        summary: "The request could not be built.",
        advice: "Check the base URL, the path, the header fields and the body of the endpoint."
    )
    /// The configuration of the transport is not valid.
    public static let invalidConfiguration = Self(
        name: "invalidConfiguration",
        summary: "The configuration of the transport is not valid.",
        advice: "Check the certificates, keys and addresses passed to the transport."
    )
    /// The platform's rules for apps forbid the connection.
    public static let platformPolicy = Self(
        name: "platformPolicy",
        summary: "The system does not allow this app to connect.",
        advice: "Use https, or declare the exception that the platform requires."
    )
    /// There is no route to the network or the host.
    public static let offline = Self(
        name: "offline",
        isTransient: true,
        summary: "There is no route to the server.",
        advice: "Check the network connection, then try again."
    )
    /// The host name does not exist.
    public static let hostNotFound = Self(
        name: "hostNotFound",
        summary: "The host name does not exist.",
        advice: "Check the spelling of the host in the base URL."
    )
    /// The host name could not be looked up for now.
    public static let nameLookupFailed = Self(
        name: "nameLookupFailed",
        isTransient: true,
        summary: "The host name could not be looked up.",
        advice: "Check the network connection and the name servers, then try again."
    )
    /// No process is listening at the host and port.
    public static let connectionRefused = Self(
        name: "connectionRefused",
        isTransient: true,
        summary: "The server refused the connection.",
        advice: "Check the port, and that the server is running; it may still be starting."
    )
    /// The connection, including its TLS handshake, was not established in time.
    public static let connectTimeout = Self(
        name: "connectTimeout",
        isTransient: true,
        summary: "The connection was not established in time.",
        advice: "Try again; if the error persists, check that the server speaks the URL's scheme."
    )
    /// No connection became free in time.
    public static let poolTimeout = Self(
        name: "poolTimeout",
        isTransient: true,
        summary: "No connection became free in time.",
        advice: "Send fewer requests at once, or allow the transport more connections."
    )
    /// The TLS handshake failed.
    public static let tlsHandshakeFailed = Self(
        name: "tlsHandshakeFailed",
        summary: "The secure connection could not be negotiated.",
        advice: "Check that the server speaks TLS on this port, in an allowed version."
    )
    /// The server's certificate has expired, or its issuer is not trusted.
    public static let tlsUntrusted = Self(
        name: "tlsUntrusted",
        summary: "The server's certificate is not trusted.",
        advice: "Check the certificate's dates and issuer, and the clock of this device."
    )
    /// The server's certificate belongs to another host.
    public static let tlsHostnameMismatch = Self(
        name: "tlsHostnameMismatch",
        summary: "The server's certificate belongs to another host.",
        advice: "Check the host in the base URL; someone may be answering in its place."
    )
    /// The server requires a client certificate, and got none or one that it does not accept.
    public static let tlsClientCertificate = Self(
        name: "tlsClientCertificate",
        summary: "The server did not accept the client certificate.",
        advice: "Pass the transport a certificate that the server accepts."
    )
    /// The server's public key is not one of the pinned keys.
    public static let tlsPinMismatch = Self(
        name: "tlsPinMismatch",
        summary: "The server's public key is not one of the pinned keys.",
        advice: "Ship the new pin in an app update; or someone may be intercepting the connection."
    )
    /// The proxy requires credentials.
    public static let proxyUnauthorized = Self(
        name: "proxyUnauthorized",
        summary: "The proxy requires credentials.",
        advice: "Pass the transport a user name and a password that the proxy accepts."
    )
    /// The proxy refused the connection or sent an invalid response.
    public static let proxyFailed = Self(
        name: "proxyFailed",
        summary: "The proxy did not connect to the server.",
        advice: "Check the address and the credentials of the proxy."
    )
    /// The origin's circuit is open because recent calls failed; nothing was sent.
    public static let circuitOpen = Self(
        name: "circuitOpen",
        isTransient: true,
        summary: "Calls to this server are suspended because recent ones failed.",
        advice: "Try again after a while; the cause is the failure that opened the circuit."
    )
    /// A limit of this client on the rate or the number of calls refuses the call.
    public static let throttled = Self(
        name: "throttled",
        isTransient: true,
        summary: "This client's own limit on calls was reached.",
        advice: "Send fewer calls at once, or raise the limit of the middleware."
    )
    /// The transport was shut down.
    public static let clientShutdown = Self(
        name: "clientShutdown",
        summary: "The transport was shut down.",
        advice: "Shut the transport down only after its last call."
    )
}

// MARK: - During the exchange

extension TransportError.Code {
    /// The server was silent for too long, before the head or within the body.
    public static let responseTimeout = Self(
        name: "responseTimeout",
        isTransient: true,
        summary: "The server did not answer in time.",
        advice: "Try again; for slow operations allow more time."
    )
    /// The server accepted no bytes of the request for too long.
    public static let writeTimeout = Self(
        name: "writeTimeout",
        isTransient: true,
        summary: "The server did not accept the request in time.",
        advice: "Try again; for large uploads on slow networks allow more time."
    )
    /// The total time for the call has run out.
    public static let deadlineExceeded = Self(
        name: "deadlineExceeded",
        isTransient: true,
        summary: "The call did not finish within its time limit.",
        advice: "Try again; for large responses and slow operations give the call more time."
    )
    /// The connection broke before the response was complete.
    public static let connectionLost = Self(
        name: "connectionLost",
        isTransient: true,
        summary: "The connection was lost.",
        advice: "Try again if repeating the request does no harm."
    )
    /// The server had closed an idle connection by the time that it was reused.
    public static let staleConnection = Self(
        name: "staleConnection",
        isTransient: true,
        summary: "The server had already closed the reused connection.",
        advice: "Try again if repeating the request does no harm: it gets a new connection."
    )
    /// The server refused the stream without processing the request (RFC 9113 section 8.7).
    public static let streamRefused = Self(
        name: "streamRefused",
        isTransient: true,
        summary: "The server refused the request before processing it.",
        advice: "Try again: the server has not processed it."
    )
    /// The server ended the request's stream with an HTTP/2 error.
    public static let streamReset = Self(
        name: "streamReset",
        isTransient: true,
        summary: "The server aborted the exchange.",
        advice: "Try again if repeating the request does no harm."
    )
    /// One attempt exceeded its time limit.
    public static let attemptTimeout = Self(
        name: "attemptTimeout",
        isTransient: true,
        summary: "The attempt did not finish within its time limit.",
        advice: "Try again; for large responses and slow operations give attempts more time."
    )
    /// The body arrived more slowly than the minimum rate.
    public static let tooSlow = Self(
        name: "tooSlow",
        isTransient: true,
        summary: "The server sends the response too slowly.",
        advice: "Try again on a better network, or lower the minimum rate."
    )
    /// The response body ended before its announced length.
    public static let truncatedBody = Self(
        name: "truncatedBody",
        isTransient: true,
        summary: "The response body ended early.",
        advice: "Try again; if the error persists, the server or an intermediary breaks responses."
    )
    /// The peer does not speak HTTP, or violates the protocol.
    public static let protocolViolation = Self(
        name: "protocolViolation",
        summary: "The response is not valid HTTP.",
        advice: "Check that the URL's port belongs to an HTTP server."
    )
    /// The response is larger than the limit.
    public static let responseTooLarge = Self(
        name: "responseTooLarge",
        summary: "The response is larger than the limit.",
        advice: "Read it as a stream, or raise the client's limit."
    )
    /// The response body could not be decompressed.
    public static let decompressionFailed = Self(
        name: "decompressionFailed",
        summary: "The response body is not valid in its content coding.",
        advice: "The server or an intermediary breaks compressed responses: report it there."
    )
    /// The response body grew too much when it was decompressed.
    public static let decompressionLimit = Self(
        name: "decompressionLimit",
        summary: "The response body grows more than allowed when decompressed.",
        advice: "It may be an attack; raise the limit only for a trusted server."
    )
    /// A line of a streamed response is longer than the limit.
    public static let lineTooLong = Self(
        name: "lineTooLong",
        summary: "A line of the response is longer than the limit.",
        advice: "Check that the response consists of lines, or raise the limit of the reader."
    )
    /// Two tasks read the same body at once.
    public static let concurrentRead = Self(
        name: "concurrentRead",
        summary: "Two tasks read the same response body at once.",
        advice: "Read each body from one task at a time."
    )
    /// The response could not be written to its file.
    public static let fileNotWritten = Self(
        name: "fileNotWritten",
        summary: "The response could not be written to its file.",
        advice: "Check that the folder exists and may be written to, and that the disk has room."
    )
    /// Producing the request body failed.
    public static let bodyProducerFailed = Self(
        name: "bodyProducerFailed",
        summary: "The request body could not be produced.",
        advice: "See the cause: it is the error of the body's own source."
    )
    /// The body would have to be sent again, but can be read only once.
    ///
    /// For layers of your own; Keel's layers return the response or the error instead.
    public static let bodyNotReplayable = Self(
        name: "bodyNotReplayable",
        summary: "The request body cannot be sent again.",
        advice: "Use a body that starts from its first byte each time it is opened."
    )
    /// There are no valid credentials for the call, or they belong to another user than the call.
    public static let credentialsUnavailable = Self(
        name: "credentialsUnavailable",
        summary: "There are no valid credentials for the call.",
        advice: "Sign in again; the cause says why the credentials could not be renewed."
    )
    /// The caller canceled the call.
    public static let cancelled = Self(
        name: "cancelled",
        summary: "The call was canceled.",
        advice: "Nothing to do: the caller no longer wants the result."
    )
    /// A failure that no other code describes.
    public static let unknown = Self(
        name: "unknown",
        summary: "The exchange failed for an unknown reason.",
        advice: "See the cause; if it occurs often, report it."
    )
}

// MARK: - Redirects

extension TransportError.Code {
    /// The server redirected the call to an address that it had already visited.
    public static let redirectLoop = Self(
        name: "redirectLoop",
        summary: "The server redirects in a loop.",
        advice: "The server's configuration is wrong, or it expects a cookie or a credential."
    )
    /// The server redirected more often than the policy allows.
    public static let redirectLimit = Self(
        name: "redirectLimit",
        summary: "The server redirects too often.",
        advice: "Request the final address, or raise the limit of the redirect policy."
    )
    /// The server redirected from https to http.
    public static let redirectDowngrade = Self(
        name: "redirectDowngrade",
        summary: "The server redirects from https to http.",
        advice: "Request the final address over https; an insecure one is never followed."
    )
    /// The server redirected to an address that is missing or cannot be parsed.
    public static let redirectInvalid = Self(
        name: "redirectInvalid",
        summary: "The server redirects to an address that cannot be used.",
        advice: "The server's Location field is missing, broken, or not an http address."
    )
}

extension TransportError.Code {
    public static let known: [Self] = [
        .invalidRequest, .invalidConfiguration, .platformPolicy, .offline, .hostNotFound,
        .nameLookupFailed, .connectionRefused,
        .connectTimeout, .poolTimeout, .tlsHandshakeFailed, .tlsUntrusted, .tlsHostnameMismatch,
        .tlsClientCertificate, .tlsPinMismatch, .proxyUnauthorized, .proxyFailed, .circuitOpen,
        .throttled, .clientShutdown, .responseTimeout, .writeTimeout, .deadlineExceeded,
        .attemptTimeout, .tooSlow, .connectionLost, .staleConnection, .streamRefused,
        .streamReset, .truncatedBody, .protocolViolation, .responseTooLarge,
        .decompressionFailed, .decompressionLimit, .lineTooLong, .concurrentRead,
        .fileNotWritten, .bodyProducerFailed, .bodyNotReplayable, .credentialsUnavailable,
        .cancelled, .unknown,
        .redirectLoop, .redirectLimit, .redirectDowngrade, .redirectInvalid,
    ]
}

extension TransportError.Code {
    /// The phase of an error with this code, if its creator names none.
    package var usualPhase: TransportError.Phase? {
        switch self {
        case .invalidRequest, .invalidConfiguration, .platformPolicy, .credentialsUnavailable:
            .build
        case .offline, .connectionRefused, .connectTimeout, .proxyUnauthorized, .proxyFailed:
            .connect
        case .hostNotFound, .nameLookupFailed: .resolve
        case .poolTimeout, .circuitOpen, .throttled: .pool
        case .tlsHandshakeFailed, .tlsUntrusted, .tlsHostnameMismatch, .tlsClientCertificate,
            .tlsPinMismatch:
            .tls
        case .responseTimeout, .connectionLost, .staleConnection, .streamRefused, .streamReset,
            .protocolViolation:
            .awaitHead
        case .writeTimeout, .bodyProducerFailed, .bodyNotReplayable: .send
        case .tooSlow, .truncatedBody, .responseTooLarge, .decompressionFailed, .decompressionLimit,
            .lineTooLong, .concurrentRead, .fileNotWritten:
            .readBody
        case .redirectLoop, .redirectLimit, .redirectDowngrade, .redirectInvalid: .redirect
        default: nil
        }
    }
}
