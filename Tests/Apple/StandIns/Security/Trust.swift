// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
public import FoundationNetworking

// A server's certificates, as URLSession's delegate receives them. Tests decide whether a chain is valid.

/// A server trust challenge, which Foundation on Linux never sends.
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"

/// A certificate.
public final class SecCertificate: Sendable {
    let bytes: Data

    public init(_ bytes: Data) { self.bytes = bytes }
}

/// The certificates of a server, and whether they are trusted.
public final class SecTrust: Sendable {
    let chain: [SecCertificate]
    let isValid: Bool

    public init(_ chain: [SecCertificate], isValid: Bool) {
        self.chain = chain
        self.isValid = isValid
    }
}

public func SecTrustEvaluateWithError(
    _ trust: SecTrust,
    _ error: UnsafeMutablePointer<(any Error)?>?
) -> Bool {
    trust.isValid
}

public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> [Any]? { trust.chain }

public func SecCertificateCopyData(_ certificate: SecCertificate) -> Data { certificate.bytes }

/// The protection space of a server with certificates; Apple's class needs no subclass for them.
public final class TrustedSpace: URLProtectionSpace, @unchecked Sendable {
    fileprivate let trust: SecTrust

    public init(host: String, _ trust: SecTrust) {
        self.trust = trust
        super.init(
            host: host,
            port: 443,
            protocol: "https",
            realm: nil,
            authenticationMethod: AppleSecurity.NSURLAuthenticationMethodServerTrust
        )
    }

    public required init?(coder: NSCoder) { nil }
}

extension URLProtectionSpace {
    public var serverTrust: SecTrust? { (self as? TrustedSpace)?.trust }
}
