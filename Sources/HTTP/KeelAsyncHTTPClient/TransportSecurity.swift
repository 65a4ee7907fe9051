#if AsyncHTTPClient && canImport(AsyncHTTPClient)
public import KeelHTTP
import NIOSSL

extension AsyncHTTPClientTransport {
    /// The certificates that a transport trusts, and its client certificate.
    public struct TransportSecurity: Sendable, Hashable {
        /// The trusted authorities.
        public var trustRoots: TrustRoots = .system

        /// The client certificate for servers that request one.
        public var identity: Identity?

        /// Creates the default security: the system's authorities, no identity, TLS 1.2 or newer.
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

    /// The trusted authorities.
    public struct TrustRoots: Sendable, Hashable {
        fileprivate let certificates: [NIOSSLCertificate]?

        /// The system's authorities.
        public static let system = TrustRoots(certificates: nil)

        /// Trusts only the certificates of a PEM text (RFC 7468), one or several.
        ///
        /// - Throws: `TransportError.Code.invalidConfiguration` if the text has no PEM certificate.
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
        ///   - chain: The certificate, followed by its issuers in order.
        ///   - key: The private key, unencrypted.
        /// - Throws: `TransportError.Code.invalidConfiguration` if either cannot be read.
        public init(
            chainPEM chain: some Sequence<UInt8>,
            keyPEM key: some Sequence<UInt8>
        ) throws(TransportError) {
            self.chain = try TrustRoots.certificates(in: chain)
            do {
                self.key = try NIOSSLPrivateKey(bytes: Array(key), format: .pem)
            } catch {
                // The error's text might quote the key, so it is not kept as the cause.
                throw TransportError(
                    .invalidConfiguration,
                    "The private key is not in the PEM format, or it is encrypted."
                )
            }
        }
    }
}

extension AsyncHTTPClientTransport.Identity: CustomStringConvertible, CustomReflectable {
    /// A fixed word that reveals nothing of the key.
    public var description: String { "identity" }

    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
#endif
