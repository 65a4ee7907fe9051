#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import AsyncHTTPClient
import KeelHTTP
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL

extension TransportError {
    /// Maps a failure of AsyncHTTPClient or SwiftNIO.
    ///
    /// `phase` is `Phase/awaitHead` for everything before the response head, or `Phase/readBody`. A
    /// more specific failure gets its own phase.
    init(fromAsyncHTTPClient error: any Error, during phase: Phase) {
        switch error {
        case let error as TransportError: self = error
        case is CancellationError: self.init(.cancelled, phase: phase, cause: error)
        case let error as HTTPClientError: self.init(client: error, phase)
        case let error as NIOConnectionError: self.init(connection: error)
        case let error as SocketAddressError.UnknownHost: self.init(lookup: error)
        case let error as IOError: self.init(system: error, phase)
        case let error as ChannelError: self.init(channel: error, phase)
        case let error as HTTPParserError: self.init(parser: error, phase)
        case let error as NIOSSLError: self.init(secure: error, phase)
        case let error as NIOSSLExtraError: self.init(secure: error)
        case let error as BoringSSLError: self.init(record: error, phase)
        case let error as NIOHTTP2Errors.StreamClosed: self.init(stream: error, phase)
        case is any NIOHTTP2Error: self.init(.protocolViolation, phase: phase, cause: error)
        default: self.init(.unknown, phase: phase, cause: error)
        }
    }

    private init(client error: HTTPClientError, _ phase: Phase) {
        switch error {
        case .cancelled, .requestStreamCancelled:
            self.init(.cancelled, phase: phase, cause: error)
        case .alreadyShutdown:
            self.init(.clientShutdown, processed: .no, cause: error)
        case .connectTimeout, .tlsHandshakeTimeout:
            self.init(.connectTimeout, cause: error)
        case .getConnectionFromPoolTimeout:
            self.init(.poolTimeout, cause: error)
        case .readTimeout, .deadlineExceeded:
            self.init(.responseTimeout, phase: phase, cause: error)
        case .writeTimeout:
            self.init(.writeTimeout, cause: error)
        case .remoteConnectionClosed:
            self.init(.connectionLost, phase: phase, cause: error)
        case .uncleanShutdown:
            self.init(phase == .readBody ? .truncatedBody : .connectionLost, cause: error)
        case .proxyAuthenticationRequired:
            self.init(.proxyUnauthorized, cause: error)
        case .invalidProxyResponse, .socksHandshakeTimeout, .httpProxyHandshakeTimeout,
            .invalidProxyConfiguration:
            self.init(.proxyFailed, cause: error)
        case .redirectLimitReached:
            self.init(.redirectLimit, cause: error)
        case .redirectCycleDetected:
            self.init(.redirectLoop, cause: error)
        default:
            self.init(request: error)
        }
    }

    /// Maps a refused request or an internal error of the client.
    ///
    /// Some of them quote header fields, so they are not kept as the cause.
    private init(request error: HTTPClientError) {
        switch error.shortDescription {
        case let text where text.contains("internal"), let text where text.contains("Internal"):
            self.init(.unknown, cause: error)
        case let text:
            self.init(.invalidRequest, "The request is invalid: \(text).")
        }
    }

    private init(connection error: NIOConnectionError) {
        // Each address has its own failure; the first is that of the preferred address.
        if let failure = error.connectionErrors.first {
            self.init(fromAsyncHTTPClient: failure.error, during: .connect)
        } else if let lookup = error.dnsAError ?? error.dnsAAAAError {
            self.init(fromAsyncHTTPClient: lookup, during: .resolve)
        } else {
            self.init(.connectionRefused, cause: error)
        }
    }

    private init(lookup error: SocketAddressError.UnknownHost) {
        self.init(Code(lookupFailure: error.errorCode), cause: error)
    }

    private init(system error: IOError, _ phase: Phase) {
        let code = Code(systemError: error.errnoCode, in: phase)
        // All others are failures to connect, whatever the phase of the call.
        let isLate = code == .connectionLost || code == .unknown
        self.init(code, phase: isLate ? phase : nil, cause: error)
    }

    private init(channel error: ChannelError, _ phase: Phase) {
        switch error {
        case .connectTimeout, .connectPending:
            self.init(.connectTimeout, cause: error)
        case .ioOnClosedChannel, .alreadyClosed, .inputClosed, .outputClosed, .eof:
            self.init(.connectionLost, phase: phase, cause: error)
        default:
            self.init(.unknown, phase: phase, cause: error)
        }
    }

    private init(parser error: HTTPParserError, _ phase: Phase) {
        switch error {
        case .invalidEOFState where phase == .readBody:
            self.init(.truncatedBody, cause: error)
        case .invalidEOFState:
            self.init(.connectionLost, phase: phase, cause: error)
        default:
            self.init(.protocolViolation, phase: phase, cause: error)
        }
    }

    private init(secure error: NIOSSLError, _ phase: Phase) {
        switch error {
        case .uncleanShutdown:
            self.init(phase == .readBody ? .truncatedBody : .connectionLost, cause: error)
        case .handshakeFailed(let reason):
            if String(describing: reason).contains("CERTIFICATE_VERIFY_FAILED") {
                self.init(.tlsUntrusted, cause: error)
            } else if Self.concernsClientCertificate(reason) {
                self.init(.tlsClientCertificate, cause: error)
            } else {
                self.init(.tlsHandshakeFailed, cause: error)
            }
        case .unableToValidateCertificate, .noCertificateToValidate:
            self.init(.tlsUntrusted, cause: error)
        default:
            self.init(.tlsHandshakeFailed, cause: error)
        }
    }

    /// Maps an error of an open secure channel.
    ///
    /// In TLS 1.3 a server checks the client's certificate when the client already considers the
    /// handshake complete (RFC 8446 section 4.4.2.4).
    private init(record error: BoringSSLError, _ phase: Phase) {
        guard Self.concernsClientCertificate(error) else {
            self.init(.connectionLost, phase: phase, cause: error)
            return
        }
        self.init(.tlsClientCertificate, cause: error)
    }

    // BoringSSL distinguishes its reasons only in the text of its error stack.
    private static func concernsClientCertificate(_ error: BoringSSLError) -> Bool {
        let text = String(describing: error)
        let alerts = [
            "CERTIFICATE_REQUIRED", "BAD_CERTIFICATE", "UNKNOWN_CA", "CERTIFICATE_UNKNOWN",
            "CERTIFICATE_EXPIRED", "CERTIFICATE_REVOKED", "UNSUPPORTED_CERTIFICATE",
        ]
        return text.contains("ALERT") && alerts.contains { text.contains($0) }
    }

    private init(secure error: NIOSSLExtraError) {
        switch error {
        case .failedToValidateHostname, .serverHostnameImpossibleToMatch:
            self.init(.tlsHostnameMismatch, cause: error)
        default:
            self.init(.tlsHandshakeFailed, cause: error)
        }
    }

    private init(stream error: NIOHTTP2Errors.StreamClosed, _ phase: Phase) {
        // REFUSED_STREAM promises that the request was not processed (RFC 9113 section 8.7);
        // streams above the last one that a GOAWAY names end the same way.
        guard error.errorCode == .refusedStream else {
            self.init(.streamReset, phase: phase, cause: error)
            return
        }
        self.init(.streamRefused, processed: .no, cause: error)
    }
}
#endif
