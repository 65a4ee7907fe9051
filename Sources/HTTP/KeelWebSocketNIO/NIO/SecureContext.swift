#if WebSocket
public import KeelHTTP
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// The TLS context of a transport, created when its first secure connection is opened.
///
/// Reading the system's authorities takes milliseconds, once, on a thread that may block.
final class SecureContext: Sendable {
    private let trust: NIOWebSocketTransport.Trust
    private let identity: NIOWebSocketTransport.Identity?
    private let made = Mutex<EventLoopFuture<NIOSSLContext>?>(nil)

    init(
        _ trust: NIOWebSocketTransport.Trust,
        _ identity: NIOWebSocketTransport.Identity?
    ) {
        self.trust = trust
        self.identity = identity
    }

    /// Returns the context, the same one each time.
    ///
    /// A failure is not kept: the next connection reads the certificates again.
    func make(on eventLoop: any EventLoop) -> EventLoopFuture<NIOSSLContext> {
        let (context, isNew) = made.withLock { made in
            if let made { return (made, false) }
            let context = NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) {
                [trust, identity] in
                try NIOSSLContext(configuration: Self.settings(trust, identity))
            }
            made = context
            return (context, true)
        }
        if isNew { context.whenFailure { _ in self.made.withLock { $0 = nil } } }
        return context.hop(to: eventLoop)
    }

    private static func settings(
        _ trust: NIOWebSocketTransport.Trust,
        _ identity: NIOWebSocketTransport.Identity?
    ) throws -> TLSConfiguration {
        var settings = TLSConfiguration.makeClientConfiguration()
        settings.minimumTLSVersion = .tlsv12
        settings.applicationProtocols = ["http/1.1"]
        if let pem = trust.pem {
            settings.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(pem))
        }
        if let identity {
            settings.certificateChain = identity.chain.map { .certificate($0) }
            settings.privateKey = .privateKey(identity.key)
        }
        return settings
    }
}

extension NIOWebSocketTransport {
    /// A certificate with its private key.
    public struct Identity: Sendable, Hashable {
        let chain: [NIOSSLCertificate]
        let key: NIOSSLPrivateKey

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
            do {
                self.chain = try NIOSSLCertificate.fromPEMBytes(Array(chain))
            } catch {
                throw TransportError(
                    .invalidConfiguration,
                    "The certificates are not in the PEM format.",
                    cause: error
                )
            }
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

extension NIOWebSocketTransport.Identity: CustomStringConvertible, CustomReflectable {
    /// A fixed word that reveals nothing of the key.
    public var description: String { "identity" }

    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
#endif
