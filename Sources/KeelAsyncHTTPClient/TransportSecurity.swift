#if AsyncHTTPClient && canImport(AsyncHTTPClient)
public import KeelHTTP
import NIOSSL

extension AsyncHTTPClientTransport {
    /// Whom a transport trusts, and what it shows servers that ask who it is.
    public struct TransportSecurity: Sendable, Hashable {
        /// The authorities whose certificates are trusted.
        public var trustRoots: TrustRoots = .system

        /// What is shown to servers that ask for a client certificate.
        public var identity: Identity?

        /// Creates the usual security: the system's authorities, no identity, TLS 1.2 or newer.
        public init() {}

        var tlsConfiguration: TLSConfiguration {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.minimumTLSVersion = .tlsv12
            if let certificates = trustRoots.certificates {
                tls.trustRoots = .certificates(certificates)
            }
            if let identity {
                tls.certificateChain = identity.chain.map { .certificate($0) }
                tls.privateKey = .privateKey(identity.key)
            }
            return tls
        }
    }

    /// The authorities whose certificates are trusted.
    public struct TrustRoots: Sendable, Hashable {
        fileprivate let certificates: [NIOSSLCertificate]?

        /// Those of the system.
        public static let system = TrustRoots(certificates: nil)

        /// Only these, one or several in one PEM text (RFC 7468).
        ///
        /// - Throws: `TransportError.Code.invalidConfiguration` if the text is not PEM or holds no
        ///   certificate.
        public static func pem(_ text: some Sequence<UInt8>) throws(TransportError) -> TrustRoots {
            TrustRoots(certificates: try certificates(in: text))
        }

        fileprivate static func certificates(
            in text: some Sequence<UInt8>
        ) throws(TransportError) -> [NIOSSLCertificate] {
            do {
                return try NIOSSLCertificate.fromPEMBytes(Array(text))
            } catch {
                throw TransportError(
                    .invalidConfiguration,
                    "The certificates are not in the PEM format.",
                    cause: error
                )
            }
        }
    }

    /// A certificate with its private key.
    public struct Identity: Sendable, Hashable {
        fileprivate let chain: [NIOSSLCertificate]
        fileprivate let key: NIOSSLPrivateKey

        /// Creates an identity from PEM texts (RFC 7468).
        ///
        /// - Parameters:
        ///   - chain: The certificate and the ones above it, in this order.
        ///   - key: The private key, not encrypted.
        /// - Throws: `TransportError.Code.invalidConfiguration` if one of them cannot be read.
        public init(
            chainPEM chain: some Sequence<UInt8>,
            keyPEM key: some Sequence<UInt8>
        ) throws(TransportError) {
            self.chain = try TrustRoots.certificates(in: chain)
            do {
                self.key = try NIOSSLPrivateKey(bytes: Array(key), format: .pem)
            } catch {
                // Its text might quote the key, so the cause is not kept.
                throw TransportError(
                    .invalidConfiguration,
                    "The private key is not in the PEM format, or it is encrypted."
                )
            }
        }
    }
}

extension AsyncHTTPClientTransport.Identity: CustomStringConvertible, CustomReflectable {
    /// A word without any part of the key.
    public var description: String { "identity" }

    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
#endif
