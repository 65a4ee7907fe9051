internal import NIOSSL

extension HandlerServer {
    /// The certificate with which a server proves its name, for connections over TLS 1.2 and 1.3.
    ///
    /// Clients choose HTTP/2 or HTTP/1.1 in the handshake (RFC 7301). The files are read once: start the server again
    /// after a renewal.
    public struct TLS: Sendable {
        let context: NIOSSLContext

        /// Reads a certificate.
        ///
        /// - Parameters:
        ///   - certificates: The path of a PEM file with the server's certificate, followed by those that lead to its
        ///     authority.
        ///   - key: The path of a PEM file with the private key of the first certificate.
        /// - Throws: An error if a file cannot be read, or if the key is not that of the certificate.
        public init(certificates: String, key: String) throws {
            var settings = TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(certificates)
                    .map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
            )
            settings.minimumTLSVersion = .tlsv12
            settings.applicationProtocols = ["h2", "http/1.1"]
            context = try NIOSSLContext(configuration: settings)
        }
    }
}
