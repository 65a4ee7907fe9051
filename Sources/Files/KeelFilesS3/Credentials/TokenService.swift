#if Crypto
internal import HTTPTypes
internal import KeelCore
internal import KeelFiles

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// AWS's Security Token Service, which exchanges an identity for temporary credentials of a role.
struct TokenService: Sendable {
    struct Role: Sendable {
        var name: String
        var session: String?
        var externalID: String?
        var duration: String?
    }

    private static let service = "The token service"

    let context: CredentialContext
    let region: String

    func assume(
        _ role: Role,
        by credentials: AWSCredentials
    ) async throws(FileStoreError) -> ExpiringCredentials {
        var form = self.form(of: role, action: "AssumeRole")
        if let id = role.externalID { form.append((name: "ExternalId", value: id)) }
        let body = Array(CanonicalRequest.query(form).utf8)
        let signer = AWSSignatureV4(region: region, service: "sts", rules: .standard)
        let signed = signer.signed(
            try request(),
            payload: .bytes(body),
            by: credentials,
            at: context.now()
        )
        return try await self.credentials(of: signed, body)
    }

    func assume(_ role: Role, withToken token: String) async throws(FileStoreError)
        -> ExpiringCredentials
    {
        var form = self.form(of: role, action: "AssumeRoleWithWebIdentity")
        form.append((name: "WebIdentityToken", value: token))
        return try await credentials(of: request(), Array(CanonicalRequest.query(form).utf8))
    }

    private func form(of role: Role, action: String) -> [(name: String, value: String)] {
        var form = [
            (name: "Action", value: action), (name: "Version", value: "2011-06-15"),
            (name: "RoleArn", value: role.name),
            (
                name: "RoleSessionName",
                value: role.session ?? "keel-\(Int64(context.now().timeIntervalSince1970))"
            ),
        ]
        if let duration = role.duration { form.append((name: "DurationSeconds", value: duration)) }
        return form
    }

    private func request() throws(FileStoreError) -> HTTPRequest {
        let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
        let origin =
            context.variable("AWS_ENDPOINT_URL_STS") ?? context.variable("AWS_ENDPOINT_URL")
            ?? "https://sts.\(region).\(domain)"
        return try CredentialContext.request(
            .post,
            origin,
            fields: [(name: "content-type", value: "application/x-www-form-urlencoded")]
        )
    }

    private func credentials(
        of request: HTTPRequest,
        _ body: [UInt8]
    ) async throws(FileStoreError) -> ExpiringCredentials {
        let reply = try await context.send(request, body: body, to: Self.service)
        let document = try? XMLElement(parsing: reply.body)
        guard reply.status == 200 else {
            let code = document?["Error"]?.text("Code")
            throw CredentialContext.refusal(Self.service, reply.status, code)
        }
        let result = document?.children.first { $0.name.hasSuffix("Result") }
        guard let values = result?["Credentials"], let id = values.text("AccessKeyId"),
            let secret = values.text("SecretAccessKey"), let token = values.text("SessionToken"),
            let expiry = S3Object.time(values.text("Expiration"))
        else {
            throw FileStoreError(
                .invalidReply,
                "The reply of the token service is not as documented."
            )
        }
        return ExpiringCredentials(
            credentials: AWSCredentials(
                accessKeyID: id,
                secretAccessKey: secret,
                sessionToken: token
            ),
            expiry: expiry
        )
    }
}

/// The web identity in the environment, as pods of Kubernetes have it.
struct WebIdentitySource: CredentialSource {
    let name = "web identity"
    private let context: CredentialContext

    init(_ context: CredentialContext) { self.context = context }

    func fetch() async throws(FileStoreError) -> CredentialFinding {
        guard context.configuration.profile == nil else {
            return .absent("a profile is named")
        }
        guard let file = context.variable("AWS_WEB_IDENTITY_TOKEN_FILE") else {
            return .absent("AWS_WEB_IDENTITY_TOKEN_FILE is not set")
        }
        guard let role = context.variable("AWS_ROLE_ARN") else {
            throw FileStoreError(
                .credentialsMissing,
                "AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not."
            )
        }
        let service = TokenService(
            context: context,
            region: try ProfileSource(context).region(of: nil)
        )
        return .found(
            try await service.assume(
                TokenService.Role(name: role, session: context.variable("AWS_ROLE_SESSION_NAME")),
                withToken: try context.token(in: file)
            )
        )
    }
}
#endif
