#if TestServer
public import Crypto
import Foundation
public import NIOSSL
import SwiftASN1
import X509

/// A certificate of a server or client, with its private key.
public struct TestIdentity: Sendable {
    let certificate: Certificate
    /// The private key.
    public let key: P256.Signing.PrivateKey

    /// The certificate as PEM text.
    public var certificatePEM: String {
        get throws { try certificate.serializeAsPEM().pemString }
    }

    /// The certificate in DER.
    public var certificateDER: [UInt8] {
        get throws { try certificate.derBytes }
    }

    /// The private key as PEM text (PKCS #8).
    public var privateKeyPEM: String { key.pemRepresentation }

    /// The private key in DER (PKCS #8).
    public var privateKeyDER: [UInt8] { Array(key.derRepresentation) }

    /// The SHA-256 hash of the public key's `SubjectPublicKeyInfo`, which pinning compares.
    ///
    /// In Base64, this is the value of `pin-sha256` in RFC 7469.
    public var publicKeyPin: [UInt8] { Self.pin(of: key.publicKey) }

    /// Returns the pin of a key without a certificate, for use as a backup pin.
    public static func backupPin(
        of key: P256.Signing.PrivateKey = P256.Signing.PrivateKey()
    ) -> [UInt8] {
        pin(of: key.publicKey)
    }

    /// The pin in Base64, as in curl and RFC 7469.
    public var publicKeyPinText: String { Self.pinText(publicKeyPin) }

    /// Returns a pin in Base64, as in curl and RFC 7469.
    public static func pinText(_ pin: [UInt8]) -> String { Data(pin).base64EncodedString() }

    private static func pin(of key: P256.Signing.PublicKey) -> [UInt8] {
        Array(SHA256.hash(data: key.derRepresentation))
    }

    /// The certificate for SwiftNIO's TLS.
    public var chain: [NIOSSLCertificateSource] {
        get throws { [.certificate(try NIOSSLCertificate(bytes: certificateDER, format: .der))] }
    }

    /// The private key for SwiftNIO's TLS.
    public var privateKey: NIOSSLPrivateKeySource {
        get throws { .privateKey(try NIOSSLPrivateKey(bytes: privateKeyDER, format: .der)) }
    }

    /// Writes temporary PEM files, for programs that require files, and removes them when `body` returns.
    public func withFiles<Value>(
        trusting authority: TestAuthority,
        _ body: (Files) async throws -> Value
    ) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("keel-test-\(UUID().uuidString)")
        let files = Files(folder.path)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(authority.certificatePEM.utf8).write(to: URL(fileURLWithPath: files.authority))
        try Data(certificatePEM.utf8).write(to: URL(fileURLWithPath: files.certificate))
        try Data(privateKeyPEM.utf8).write(to: URL(fileURLWithPath: files.privateKey))
        return try await body(files)
    }

    /// The paths of the PEM files of an identity.
    public struct Files: Sendable, Hashable {
        /// The authority's certificate.
        public let authority: String
        /// The certificate.
        public let certificate: String
        /// The private key.
        public let privateKey: String

        fileprivate init(_ folder: String) {
            authority = folder + "/authority.pem"
            certificate = folder + "/certificate.pem"
            privateKey = folder + "/key.pem"
        }
    }
}
#endif
