#if Crypto
internal import HTTPTypes
internal import KeelCore
internal import KeelFiles
internal import KeelHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The environment, the transport and the clock, which the sources of credentials share.
struct CredentialContext: Sendable {
    static let largestDocument = 1 << 20

    let configuration: AWSCredentialsChain.Configuration
    let transport: any HTTPTransport
    /// The origin of relative addresses of containers.
    let containerOrigin: String
    let now: @Sendable () -> Date
    /// The clock of the limits of requests.
    var clock: any Clock<Duration> = ContinuousClock()

    func variable(_ name: String) -> String? { configuration.environment[name] }

    func path(_ text: String) -> String {
        guard text == "~" || text.hasPrefix("~/"), let home = variable("HOME") else { return text }
        return home + text.dropFirst()
    }

    func read(_ path: String) -> [UInt8]? {
        guard let data = try? Data(contentsOf: URL(filePath: path)),
            data.count <= Self.largestDocument
        else { return nil }
        return Array(data)
    }

    func token(in path: String) throws(FileStoreError) -> String {
        guard let bytes = read(self.path(path)) else {
            throw FileStoreError(.credentialsMissing, "The token file “\(path)” cannot be read.")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let token = text.split(whereSeparator: \.isWhitespace).first.map(String.init)
        guard let token else {
            throw FileStoreError(.credentialsMissing, "The token file “\(path)” is empty.")
        }
        return token
    }

    /// Sends a request, and returns any status and the body; throws `unavailable` without a reply within `limit`.
    func send(
        _ request: HTTPRequest,
        body: [UInt8]? = nil,
        limit: Duration = .seconds(10),
        to service: String
    ) async throws(FileStoreError) -> (status: Int, body: [UInt8]) {
        var request = request
        request.headerFields[.userAgent] = "keel"
        let call = HTTPCall(request, body: body.map { HTTPBody($0) })
        let exchange: @Sendable () async throws(TransportError) -> (status: Int, body: [UInt8]) = {
            [transport] () async throws(TransportError) in
            let reply = try await transport.send(call)
            let bytes = try await reply.body.collect(upTo: Self.largestDocument)
            return (reply.head.status.code, bytes)
        }
        do throws(TransportError) {
            return try await Deadline(in: limit, on: clock).run(
                throwing: TransportError(.attemptTimeout),
                keepingLate: { _ in true },
                exchange
            )
        } catch {
            throw FileStoreError(.unavailable, "\(service) cannot be reached.", cause: error)
        }
    }

    static func request(
        _ method: HTTPRequest.Method,
        _ address: String,
        fields: [(name: String, value: String)] = []
    ) throws(FileStoreError) -> HTTPRequest {
        guard let end = address.firstRange(of: "://") else {
            throw FileStoreError(.invalidArgument, "“\(address)” is not a URL.")
        }
        let rest = address[end.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let path = rest.dropFirst(authority.count)
        let scheme = String(address[..<end.lowerBound])
        guard !authority.isEmpty, scheme == "http" || scheme == "https" else {
            throw FileStoreError(.invalidArgument, "“\(address)” is not an HTTP URL.")
        }
        var request = HTTPRequest(
            method: method,
            scheme: scheme,
            authority: String(authority),
            path: path.hasPrefix("/") ? String(path) : "/" + String(path)
        )
        for field in fields {
            guard let name = HTTPField.Name(field.name),
                !field.value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
            else {
                throw FileStoreError(
                    .invalidArgument,
                    "The value of “\(field.name)” contains a line end."
                )
            }
            request.headerFields[name] = field.value
        }
        return request
    }

    /// Returns the error of a service that refused, without the body, which may contain secrets.
    static func refusal(_ service: String, _ status: Int, _ code: String? = nil) -> FileStoreError {
        FileStoreError(
            status >= 500 || status == 429 ? .unavailable : .credentialsRefused,
            "\(service) answered \(status)\(code.map { " (\($0))" } ?? "")."
        )
    }

    static func decode<Value: Decodable>(
        _ type: Value.Type,
        _ bytes: [UInt8],
        of service: String
    ) throws(FileStoreError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw FileStoreError(.invalidReply, "The reply of \(service) is not as documented.")
        }
    }
}

/// Credentials in JSON, as containers, instances and processes give them.
struct CredentialDocument: Decodable {
    let accessKeyID: String
    let secretAccessKey: String
    let token: String?
    let expiration: String?
    let code: String?
    let version: Int?

    private enum CodingKeys: String, CodingKey {
        case accessKeyID = "AccessKeyId"
        case secretAccessKey = "SecretAccessKey"
        case token = "Token"
        case sessionToken = "SessionToken"
        case expiration = "Expiration"
        case code = "Code"
        case version = "Version"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        accessKeyID = try values.decode(String.self, forKey: .accessKeyID)
        secretAccessKey = try values.decode(String.self, forKey: .secretAccessKey)
        token =
            try values.decodeIfPresent(String.self, forKey: .token)
            ?? values.decodeIfPresent(String.self, forKey: .sessionToken)
        expiration = try values.decodeIfPresent(String.self, forKey: .expiration)
        code = try values.decodeIfPresent(String.self, forKey: .code)
        version = try values.decodeIfPresent(Int.self, forKey: .version)
    }

    func credentials(of service: String) throws(FileStoreError) -> ExpiringCredentials {
        let expiry = S3Object.time(expiration)
        guard expiration == nil || expiry != nil else {
            throw FileStoreError(.invalidReply, "The reply of \(service) has an invalid date.")
        }
        return ExpiringCredentials(
            credentials: AWSCredentials(
                accessKeyID: accessKeyID,
                secretAccessKey: secretAccessKey,
                sessionToken: token
            ),
            expiry: expiry
        )
    }
}
#endif
