#if Crypto
internal import Crypto
internal import HTTPTypes
internal import KeelCore
internal import KeelFiles

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Credentials of a role through single sign-on, with the token that `aws sso login` keeps in `~/.aws/sso/cache`.
struct SingleSignOn: Sendable {
    private static let service = "The single sign-on service"
    /// The time before the end of a token at which it is renewed, in seconds.
    private static let renewal: TimeInterval = 60

    private let context: CredentialContext
    private let profile: String
    private let account: String
    private let role: String
    private let region: String
    /// The text whose hash is the name of the file in the cache.
    private let cacheName: String
    private let isSession: Bool

    init(
        _ context: CredentialContext,
        profile: String,
        _ values: AWSProfiles.Values,
        _ session: AWSProfiles.Values?
    ) throws(FileStoreError) {
        func value(_ name: String, _ values: AWSProfiles.Values) throws(FileStoreError) -> String {
            if let value = values[name] { return value }
            throw FileStoreError(
                .invalidArgument,
                "The single sign-on of the profile “\(profile)” has no \(name)."
            )
        }
        self.context = context
        self.profile = profile
        account = try value("sso_account_id", values)
        role = try value("sso_role_name", values)
        region = try value("sso_region", session ?? values)
        let address = try value("sso_start_url", session ?? values)
        cacheName = values["sso_session"] ?? address
        isSession = session != nil
    }

    /// The token as AWS's tools keep it; members that are not listed here stay as they are.
    private struct Token: Decodable {
        let accessToken: String
        let expiresAt: String
        let refreshToken: String?
        let clientId: String?
        let clientSecret: String?
        let registrationExpiresAt: String?
    }

    private struct Renewal: Encodable {
        let clientId: String
        let clientSecret: String
        let refreshToken: String
        let grantType = "refresh_token"
    }

    private struct Renewed: Decodable {
        let accessToken: String
        let expiresIn: Int
        let refreshToken: String?
    }

    private struct Reply: Decodable {
        struct Values: Decodable {
            let accessKeyId: String
            let secretAccessKey: String
            let sessionToken: String
            /// Milliseconds since 1970.
            let expiration: Int64
        }

        let roleCredentials: Values
    }

    func credentials() async throws(FileStoreError) -> ExpiringCredentials {
        let token = try await token()
        let origin =
            context.variable("AWS_ENDPOINT_URL_SSO") ?? "https://portal.sso.\(region).amazonaws.com"
        let query = CanonicalRequest.query([
            (name: "account_id", value: account), (name: "role_name", value: role),
        ])
        let request = try CredentialContext.request(
            .get,
            "\(origin)/federation/credentials?\(query)",
            fields: [(name: "x-amz-sso_bearer_token", value: token)]
        )
        let reply = try await context.send(request, to: Self.service)
        guard reply.status != 401 else { throw signedOut }
        guard reply.status == 200 else {
            throw CredentialContext.refusal(Self.service, reply.status)
        }
        let values = try CredentialContext.decode(Reply.self, reply.body, of: Self.service)
            .roleCredentials
        return ExpiringCredentials(
            credentials: AWSCredentials(
                accessKeyID: values.accessKeyId,
                secretAccessKey: values.secretAccessKey,
                sessionToken: values.sessionToken
            ),
            expiry: Date(timeIntervalSince1970: TimeInterval(values.expiration) / 1000)
        )
    }

    private func token() async throws(FileStoreError) -> String {
        let hash = Insecure.SHA1.hash(data: Array(cacheName.utf8))
        let path = context.path("~/.aws/sso/cache/\(Hexadecimal.text(of: hash)).json")
        let found = try kept(path)
        if found.remaining > Self.renewal { return found.token.accessToken }
        if let renewed = try await renewed(found.token, path, found.bytes) { return renewed }
        // Another process may have renewed the token meanwhile, and used up what renews it.
        let current = try kept(path)
        guard current.remaining > 0 else { throw signedOut }
        return current.token.accessToken
    }

    /// Returns the token of a file, and the time until its end in seconds.
    private func kept(
        _ path: String
    ) throws(FileStoreError) -> (token: Token, bytes: [UInt8], remaining: TimeInterval) {
        guard let bytes = context.read(path) else { throw signedOut }
        let token = try CredentialContext.decode(Token.self, bytes, of: "the token's file")
        guard let expiry = S3Object.time(token.expiresAt) else { throw signedOut }
        return (token, bytes, expiry.timeIntervalSince(context.now()))
    }

    /// Renews a token and keeps the new one; nil if that is not possible.
    private func renewed(
        _ token: Token,
        _ path: String,
        _ bytes: [UInt8]
    ) async throws(FileStoreError) -> String? {
        guard isSession, let id = token.clientId, let secret = token.clientSecret,
            let refresh = token.refreshToken,
            let end = S3Object.time(token.registrationExpiresAt), end > context.now(),
            // Before the refresh token is used up: a file with other values could not be written again.
            let members = try? JSONDecoder().decode([String: String].self, from: Data(bytes))
        else { return nil }
        let origin =
            context.variable("AWS_ENDPOINT_URL_SSO_OIDC") ?? "https://oidc.\(region).amazonaws.com"
        let body = try? JSONEncoder().encode(
            Renewal(clientId: id, clientSecret: secret, refreshToken: refresh)
        )
        let request = try CredentialContext.request(
            .post,
            origin + "/token",
            fields: [(name: "content-type", value: "application/json")]
        )
        let reply = try await context.send(request, body: body.map { Array($0) }, to: Self.service)
        guard reply.status == 200 else { return nil }
        let renewed = try CredentialContext.decode(Renewed.self, reply.body, of: Self.service)
        try keep(renewed, path, members)
        return renewed.accessToken
    }

    /// Replaces the token's file, which only its owner may read, and keeps its other members.
    private func keep(
        _ renewed: Renewed,
        _ path: String,
        _ members: [String: String]
    ) throws(FileStoreError) {
        var members = members
        let expiry = context.now().addingTimeInterval(TimeInterval(renewed.expiresIn))
        do {
            members["accessToken"] = renewed.accessToken
            members["expiresAt"] = expiry.formatted(.iso8601)
            if let refresh = renewed.refreshToken { members["refreshToken"] = refresh }
            let files = DiskFileSystem()
            let temporary = "\(path).\(UUID().uuidString)"
            // Removes what a failure leaves behind; after the renaming there is nothing.
            defer { try? files.remove(temporary) }
            let text = try JSONEncoder().encode(members)
            try files.replaceFile(path, by: temporary, with: Array(text))
            // The server has used up the old refresh token, so the new one has to survive a power failure.
            try? files.syncFolder(URL(filePath: path).deletingLastPathComponent().path)
        } catch {
            // The old refresh token may have been used up: the next renewal would fail without a reason.
            throw FileStoreError(
                .writeFailed,
                "The renewed token of single sign-on cannot be written to “\(path)”.",
                cause: error
            )
        }
    }

    private var signedOut: FileStoreError {
        FileStoreError(
            .credentialsMissing,
            """
            The single sign-on of the profile “\(profile)” has ended; \
            run “aws sso login --profile \(profile)”.
            """
        )
    }
}
#endif
