#if WebSocket
import KeelHTTP
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

extension TransportError {
    /// Maps a failure of SwiftNIO; `phase` applies where the failure implies none.
    init(fromSwiftNIO error: any Error, during phase: Phase) {
        switch error {
        case let error as TransportError: self = error
        case is CancellationError: self.init(.cancelled, phase: phase, cause: error)
        case let error as NIOConnectionError: self.init(connecting: error)
        case let error as SocketAddressError.UnknownHost: self.init(lookup: error)
        case let error as IOError:
            self.init(Code(systemError: error.errnoCode, in: phase), phase: phase, cause: error)
        case ChannelError.connectTimeout: self.init(.connectTimeout, cause: error)
        case is ChannelError: self.init(.connectionLost, phase: phase, cause: error)
        case is HTTPParserError: self.init(.protocolViolation, phase: phase, cause: error)
        case let error as NIOSSLError: self.init(secure: error, phase)
        case let error as NIOSSLExtraError:
            self.init(
                error == .failedToValidateHostname ? .tlsHostnameMismatch : .tlsHandshakeFailed,
                cause: error
            )
        case is BoringSSLError: self.init(.connectionLost, phase: phase, cause: error)
        default: self.init(.unknown, phase: phase, cause: error)
        }
    }

    private init(connecting error: NIOConnectionError) {
        // Each address has its own failure; the first is that of the preferred address.
        if let failure = error.connectionErrors.first {
            self.init(fromSwiftNIO: failure.error, during: .connect)
        } else if let lookup = error.dnsAError ?? error.dnsAAAAError {
            self.init(fromSwiftNIO: lookup, during: .resolve)
        } else {
            self.init(.connectionRefused, cause: error)
        }
    }

    private init(lookup error: SocketAddressError.UnknownHost) {
        self.init(Code(lookupFailure: error.errorCode), cause: error)
    }

    private init(secure error: NIOSSLError, _ phase: Phase) {
        switch error {
        case .uncleanShutdown:
            self.init(.connectionLost, phase: phase, cause: error)
        case .handshakeFailed(let reason):
            // BoringSSL distinguishes its reasons only in the text of its error stack.
            let text = String(describing: reason)
            self.init(
                text.contains("CERTIFICATE_VERIFY_FAILED") ? .tlsUntrusted : .tlsHandshakeFailed,
                cause: error
            )
        case .unableToValidateCertificate, .noCertificateToValidate:
            self.init(.tlsUntrusted, cause: error)
        default:
            self.init(.tlsHandshakeFailed, cause: error)
        }
    }
}
#endif
