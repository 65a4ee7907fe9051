#if Crypto
internal import HTTPTypes
internal import KeelFiles

/// The endpoint that a container service gives its tasks: ECS, or the Pod Identity agent of EKS.
struct ContainerSource: CredentialSource {
    /// The hosts of container services, which may be asked over plain HTTP, beside loopback.
    private static let hosts: Set<String> = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"]

    let name = "container"
    private let context: CredentialContext

    init(_ context: CredentialContext) { self.context = context }

    func fetch() async throws(FileStoreError) -> CredentialFinding {
        let request: HTTPRequest
        if let path = context.variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            guard path.hasPrefix("/") else {
                throw FileStoreError(
                    .invalidArgument,
                    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI must begin with “/”."
                )
            }
            request = try CredentialContext.request(
                .get,
                context.containerOrigin + path,
                fields: try fields()
            )
        } else if let address = context.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") {
            let full = try CredentialContext.request(.get, address)
            // The token must not be sent in plain text to any other host.
            guard full.scheme == "https" || Self.isLocal(full.authority ?? "") else {
                throw FileStoreError(
                    .invalidArgument,
                    "AWS_CONTAINER_CREDENTIALS_FULL_URI needs HTTPS for this host."
                )
            }
            request = try CredentialContext.request(.get, address, fields: try fields())
        } else {
            return .absent("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and …_FULL_URI are not set")
        }
        let service = "The container's endpoint"
        let reply = try await context.send(request, limit: .seconds(2), to: service)
        guard reply.status == 200 else { throw CredentialContext.refusal(service, reply.status) }
        let document = try CredentialContext.decode(
            CredentialDocument.self,
            reply.body,
            of: service
        )
        return .found(try document.credentials(of: service))
    }

    private func fields() throws(FileStoreError) -> [(name: String, value: String)] {
        // The file is read each time, because the service replaces it.
        if let file = context.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
            return [(name: "authorization", value: try context.token(in: file))]
        }
        return context.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN")
            .map { [(name: "authorization", value: $0)] } ?? []
    }

    static func isLocal(_ authority: String) -> Bool {
        // In `user@host`, the host follows the “@”.
        guard !authority.utf8.contains(UInt8(ascii: "@")) else { return false }
        let host: String
        if authority.hasPrefix("[") {
            host = String(authority.prefix { $0 != "]" }) + "]"
        } else {
            host = String(authority.prefix { $0 != ":" })
        }
        if hosts.contains(host) || host == "localhost" || host == "[::1]" { return true }
        // Four numbers, not a name that begins like them.
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
    }
}

/// The metadata service of an EC2 instance, version 2, whose tokens do not leave the instance.
struct InstanceSource: CredentialSource {
    let name = "instance"
    private let context: CredentialContext

    init(_ context: CredentialContext) { self.context = context }

    func fetch() async throws(FileStoreError) -> CredentialFinding {
        if context.variable("AWS_EC2_METADATA_DISABLED")?.lowercased() == "true" {
            return .absent("AWS_EC2_METADATA_DISABLED is true")
        }
        let origin = origin
        let token: String
        do throws(FileStoreError) {
            let ask = try CredentialContext.request(
                .put,
                origin + "/latest/api/token",
                fields: [(name: "x-aws-ec2-metadata-token-ttl-seconds", value: "21600")]
            )
            let reply = try await send(ask)
            guard reply.status == 200 else {
                return .absent("the metadata service answered \(reply.status) to the token request")
            }
            token = String(decoding: reply.body, as: UTF8.self)
        } catch {
            // Not an instance, or one that lets its containers make no hop.
            guard error.code == .unavailable else { throw error }
            if Task.isCancelled { throw FileStoreError.cancellation }
            return .absent("there is no metadata service within a second")
        }
        let path = origin + "/latest/meta-data/iam/security-credentials/"
        let fields = [(name: "x-aws-ec2-metadata-token", value: token)]
        let roles = try await send(try CredentialContext.request(.get, path, fields: fields))
        let role = String(decoding: roles.body, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .first.map(String.init)
        guard roles.status == 200, let role else {
            return .absent("the instance has no role (\(roles.status))")
        }
        let service = "The metadata service"
        let reply = try await send(
            try CredentialContext.request(.get, path + role, fields: fields)
        )
        guard reply.status == 200 else { throw CredentialContext.refusal(service, reply.status) }
        let document = try CredentialContext.decode(
            CredentialDocument.self,
            reply.body,
            of: service
        )
        guard document.code ?? "Success" == "Success" else {
            throw CredentialContext.refusal(service, reply.status, document.code)
        }
        return .found(try document.credentials(of: service))
    }

    private var origin: String {
        if let origin = context.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT") {
            return origin.hasSuffix("/") ? String(origin.dropLast()) : origin
        }
        let isIPv6 =
            context.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE")?.lowercased() == "ipv6"
        return isIPv6 ? "http://[fd00:ec2::254]" : "http://169.254.169.254"
    }

    private func send(
        _ request: HTTPRequest
    ) async throws(FileStoreError) -> (status: Int, body: [UInt8]) {
        try await context.send(request, limit: .seconds(1), to: "The metadata service")
    }
}
#endif
