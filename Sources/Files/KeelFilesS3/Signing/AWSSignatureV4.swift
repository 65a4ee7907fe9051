#if Crypto
internal import Crypto
public import HTTPTypes
internal import KeelCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A signer of requests to AWS services: Signature Version 4, in a header or in the query.
///
/// ```swift
/// let signer = AWSSignatureV4(region: "eu-central-1", service: "s3", rules: .s3)
/// let signed = signer.signed(request, payload: .unsigned, by: credentials, at: .now)
/// ```
///
/// The specification is docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html, and for the query
/// docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html.
public struct AWSSignatureV4: Sendable {
    /// The preparation of a request for signing, as a service expects it.
    public struct Rules: Hashable, Sendable {
        /// Whether empty and relative segments of the path are removed.
        public var normalizesPath: Bool
        /// Whether the path, as sent, is percent-encoded again.
        public var encodesPath: Bool
        /// Whether the payload's hash is sent in the field `x-amz-content-sha256`.
        public var sendsPayloadHash: Bool

        /// Creates rules.
        public init(normalizesPath: Bool, encodesPath: Bool, sendsPayloadHash: Bool) {
            self.normalizesPath = normalizesPath
            self.encodesPath = encodesPath
            self.sendsPayloadHash = sendsPayloadHash
        }

        /// The rules of S3: keys can contain anything, so the path is signed as sent.
        public static let s3 = Rules(
            normalizesPath: false,
            encodesPath: false,
            sendsPayloadHash: true
        )
        /// The rules of every other service.
        public static let standard = Rules(
            normalizesPath: true,
            encodesPath: true,
            sendsPayloadHash: false
        )
    }

    /// The coverage of the body by a signature.
    public struct Payload: Hashable, Sendable {
        let text: String

        /// The body is not signed: use this only over TLS, because an intermediary could change the body.
        public static let unsigned = Payload(text: "UNSIGNED-PAYLOAD")
        /// The body is empty.
        public static let empty = Payload.bytes([])

        /// Returns the payload of a body.
        public static func bytes(_ bytes: [UInt8]) -> Payload {
            Payload(text: Hexadecimal.text(of: SHA256.hash(data: bytes)))
        }

        static func hash(_ bytes: [UInt8]) -> Payload {
            Payload(text: Hexadecimal.text(of: bytes))
        }
    }

    static let algorithm = "AWS4-HMAC-SHA256"
    /// The maximum validity of a presigned URL: seven days.
    public static let maximumExpiry = Duration.seconds(7 * 24 * 3600)

    /// The region of the service.
    public let region: String
    /// The name of the service, such as `s3`.
    public let service: String
    /// The rules of the service.
    public let rules: Rules

    /// Creates a signer.
    public init(region: String, service: String, rules: Rules) {
        self.region = region
        self.service = service
        self.rules = rules
    }

    /// Signs a request in its header: all its fields, and `host`.
    ///
    /// Add fields that an intermediary may change, such as `user-agent`, after signing.
    ///
    /// - Parameters:
    ///   - request: The request, whose path is percent-encoded as sent.
    ///   - payload: The coverage of the body by the signature.
    ///   - credentials: The credentials to sign with.
    ///   - date: The time of the request; services accept a difference of a quarter of an hour.
    /// - Returns: The signed request.
    public func signed(
        _ request: HTTPRequest,
        payload: Payload,
        by credentials: AWSCredentials,
        at date: Date
    ) -> HTTPRequest {
        let time = SignatureTime(date)
        var signed = request
        signed.set("x-amz-date", time.text)
        if let token = credentials.sessionToken { signed.set("x-amz-security-token", token) }
        if rules.sendsPayloadHash { signed.set("x-amz-content-sha256", payload.text) }
        let (path, query) = Self.parts(of: request)
        let fields = signed.headerFields.map { (name: $0.name.canonicalName, value: $0.value) }
        let canonical = CanonicalRequest(
            method: request.method.rawValue,
            path: path,
            query: query,
            fields: [(name: "host", value: request.authority ?? "")] + fields,
            payload: payload.text,
            rules: rules
        )
        let (signature, scope) = sign(canonical, by: credentials, at: time)
        signed.headerFields[.authorization] =
            "\(Self.algorithm) Credential=\(credentials.accessKeyID)/\(scope), "
            + "SignedHeaders=\(canonical.signedFields), Signature=\(signature)"
        return signed
    }

    /// Signs a request in its query, so that its URL alone can be sent.
    ///
    /// - Parameters:
    ///   - request: The request. Its fields are signed, so the sender must send the same ones.
    ///   - duration: The validity, from 1 second to ``maximumExpiry``, in whole seconds.
    ///   - payload: The coverage of the body by the signature; `unsigned` for S3.
    ///   - credentials: The credentials to sign with. When they expire, so does the request.
    ///   - date: The start of the validity.
    /// - Returns: The signed request.
    public func presigned(
        _ request: HTTPRequest,
        for duration: Duration,
        payload: Payload,
        by credentials: AWSCredentials,
        at date: Date
    ) -> HTTPRequest {
        let time = SignatureTime(date)
        let (path, given) = Self.parts(of: request)
        let fields = request.headerFields.map { (name: $0.name.canonicalName, value: $0.value) }
        let all = [(name: "host", value: request.authority ?? "")] + fields
        let names = Set(all.map { $0.name.lowercased() }).sorted().joined(separator: ";")
        var query = given
        query += [
            (name: "X-Amz-Algorithm", value: Self.algorithm),
            (name: "X-Amz-Credential", value: "\(credentials.accessKeyID)/\(scope(time))"),
            (name: "X-Amz-Date", value: time.text),
            (name: "X-Amz-Expires", value: "\(duration.components.seconds)"),
            (name: "X-Amz-SignedHeaders", value: names),
        ]
        if let token = credentials.sessionToken {
            query.append((name: "X-Amz-Security-Token", value: token))
        }
        let canonical = CanonicalRequest(
            method: request.method.rawValue,
            path: path,
            query: query,
            fields: all,
            payload: payload.text,
            rules: rules
        )
        let signature = sign(canonical, by: credentials, at: time).signature
        var signed = request
        signed.path =
            path + "?" + CanonicalRequest.query(query) + "&X-Amz-Signature=\(signature)"
        return signed
    }

    // MARK: Parts

    func scope(_ time: SignatureTime) -> String {
        "\(time.day)/\(region)/\(service)/aws4_request"
    }

    func sign(
        _ canonical: CanonicalRequest,
        by credentials: AWSCredentials,
        at time: SignatureTime
    ) -> (signature: String, scope: String) {
        let scope = scope(time)
        var key = SymmetricKey(data: Array("AWS4\(credentials.secretAccessKey)".utf8))
        for text in [time.day, region, service, "aws4_request"] {
            let code = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)
            key = SymmetricKey(data: code)
        }
        let text = canonical.stringToSign(time, scope: scope)
        let code = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)
        return (Hexadecimal.text(of: code), scope)
    }

    /// Returns the path as sent, and the query without its percent-encoding.
    static func parts(
        of request: HTTPRequest
    ) -> (path: String, query: [(name: String, value: String)]) {
        let target = (request.path ?? "/").utf8
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        let items = target.dropFirst(path.count + 1).split(separator: UInt8(ascii: "&"))
        let query = items.map { item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            let value = item.dropFirst(name.count + 1)
            return (
                name: PercentEncoding.decode(Substring(name)),
                value: PercentEncoding.decode(Substring(value))
            )
        }
        return (String(Substring(path)), query)
    }
}

extension HTTPRequest {
    fileprivate mutating func set(_ name: String, _ value: String) {
        guard let name = HTTPField.Name(name) else { return }
        headerFields[name] = value
    }
}
#else
/// A signer of requests to AWS services; requires the trait `Crypto`.
@available(*, unavailable, message: "Enable the 'Crypto' trait of the keel package.")
public struct AWSSignatureV4: Sendable {}
#endif
