#if TestServer
public import Crypto
public import Foundation
public import NIOSSL
import SwiftASN1
import X509

/// A certificate authority for a test, created on demand.
///
/// Its key exists only in memory. Clients trust it through ``certificatePEM``, ``certificateDER`` or ``trustRoots``;
/// the system's trust store is not changed.
///
/// ```swift
/// let authority = try TestAuthority()
/// let tls = FaultServer.TLS(try authority.identity(.expired))
/// ```
public struct TestAuthority: Sendable {
    /// The defects of a certificate.
    public enum Defect: String, Sendable, Hashable, CaseIterable {
        /// No defect: the certificate is for `localhost`, 127.0.0.1 and ::1, and currently valid.
        case none
        /// The certificate expired yesterday.
        case expired
        /// The certificate becomes valid tomorrow.
        case notYetValid
        /// The certificate is only for `elsewhere.example`.
        case wrongHost
        /// The certificate is signed only by itself.
        case selfSigned
    }

    let certificate: Certificate
    let key: P256.Signing.PrivateKey
    private let now: Date

    /// Creates an authority with a new key, and with a random suffix after its name.
    ///
    /// The defects `expired` and `notYetValid` are relative to `now`.
    public init(name: String = "Keel Test Authority", now: Date = Date()) throws {
        let key = P256.Signing.PrivateKey()
        // Two authorities with the same name would be taken for one with an invalid signature.
        let mark = UUID().uuidString.prefix(8)
        let subject = try DistinguishedName { CommonName("\(name) \(mark)") }
        self.key = key
        self.now = now
        certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: .init(key.publicKey),
            notValidBefore: now - 2 * day,
            notValidAfter: now + 30 * day,
            issuer: subject,
            subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey))
            },
            issuerPrivateKey: .init(key)
        )
    }

    // MARK: Trust

    /// The authority's certificate as PEM text.
    public var certificatePEM: String {
        get throws { try certificate.serializeAsPEM().pemString }
    }

    /// The authority's certificate in DER.
    public var certificateDER: [UInt8] {
        get throws { try certificate.derBytes }
    }

    /// The trust roots for a client based on SwiftNIO.
    public var trustRoots: NIOSSLTrustRoots {
        get throws { .certificates([try NIOSSLCertificate(bytes: certificateDER, format: .der)]) }
    }

    /// Returns the TLS configuration of a SwiftNIO client that trusts only this authority.
    public func clientConfiguration(
        certificate client: TestIdentity? = nil
    ) throws -> NIOSSL.TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = try trustRoots
        if let client {
            configuration.certificateChain = try client.chain
            configuration.privateKey = try client.privateKey
        }
        return configuration
    }

    // MARK: Certificates

    /// Creates a server certificate, by default with a new key.
    ///
    /// Pass the key of an old certificate to renew it with the same pin.
    public func identity(
        _ defect: Defect = .none,
        key: P256.Signing.PrivateKey = P256.Signing.PrivateKey()
    ) throws -> TestIdentity {
        let hosts: [GeneralName] =
            defect == .wrongHost
            ? [.dnsName("elsewhere.example")]
            : [
                .dnsName("localhost"),
                .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                .ipAddress(
                    ASN1OctetString(contentBytes: ArraySlice(repeatElement(0, count: 15) + [1]))
                ),
            ]
        return try leaf(defect == .wrongHost ? "elsewhere.example" : "localhost", defect, key) {
            try ExtendedKeyUsage([.serverAuth])
            SubjectAlternativeNames(hosts)
        }
    }

    /// Creates a client certificate with a new key; the defect `wrongHost` has no effect.
    public func client(_ name: String, defect: Defect = .none) throws -> TestIdentity {
        try leaf(name, defect, P256.Signing.PrivateKey()) { try ExtendedKeyUsage([.clientAuth]) }
    }

    private func leaf(
        _ name: String,
        _ defect: Defect,
        _ key: P256.Signing.PrivateKey,
        @ExtensionsBuilder _ extensions: () throws -> Result<Certificate.Extensions, any Error>
    ) throws -> TestIdentity {
        let subject = try DistinguishedName { CommonName(name) }
        let isSelfSigned = defect == .selfSigned
        let ends: (Date, Date) =
            switch defect {
            case .expired: (now - 3 * day, now - day)
            case .notYetValid: (now + day, now + 3 * day)
            default: (now - day, now + 20 * day)
            }
        var all = try Certificate.Extensions {
            Critical(BasicConstraints.notCertificateAuthority)
            Critical(KeyUsage(digitalSignature: true))
        }
        for one in try extensions().get() { try all.append(one) }
        let certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: .init(key.publicKey),
            notValidBefore: ends.0,
            notValidAfter: ends.1,
            issuer: isSelfSigned ? subject : self.certificate.subject,
            subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: all,
            issuerPrivateKey: .init(isSelfSigned ? key : self.key)
        )
        return TestIdentity(certificate: certificate, key: key)
    }
}

private let day: TimeInterval = 86_400

extension Certificate {
    var derBytes: [UInt8] {
        get throws {
            var serializer = DER.Serializer()
            try serializer.serialize(self)
            return serializer.serializedBytes
        }
    }
}
#endif
