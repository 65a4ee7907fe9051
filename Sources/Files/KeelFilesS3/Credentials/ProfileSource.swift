#if Crypto
internal import KeelFiles

struct ProfileSource: CredentialSource {
    let name = "profile"
    private let context: CredentialContext

    init(_ context: CredentialContext) { self.context = context }

    private var profile: String {
        context.configuration.profile ?? context.variable("AWS_PROFILE") ?? "default"
    }

    func fetch() async throws(FileStoreError) -> CredentialFinding {
        let profiles = try profiles()
        guard profiles.profiles[profile] != nil else {
            let isNamed =
                context.configuration.profile != nil || context.variable("AWS_PROFILE") != nil
            guard !isNamed else { throw missing(profile) }
            return .absent("there is no profile “default” in AWS's files")
        }
        guard let found = try await credentials(of: profile, profiles, []) else {
            return .absent("the profile “\(profile)” has no credentials")
        }
        return .found(found)
    }

    /// Returns the region of a profile; nil for the chosen one.
    func region(of name: String?) throws(FileStoreError) -> String {
        if let region = context.configuration.region ?? context.variable("AWS_REGION")
            ?? context.variable("AWS_DEFAULT_REGION")
        {
            return region
        }
        return try profiles().profiles[name ?? profile]?["region"] ?? "us-east-1"
    }

    private func profiles() throws(FileStoreError) -> AWSProfiles {
        func text(_ variable: String, _ standard: String) -> String {
            let path = context.path(context.variable(variable) ?? standard)
            return context.read(path).map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        return try AWSProfiles(
            config: text("AWS_CONFIG_FILE", "~/.aws/config"),
            credentials: text("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials")
        )
    }

    /// Returns the credentials of a profile, or nil if it has none; `visited` are the profiles that led here.
    private func credentials(
        of name: String,
        _ profiles: AWSProfiles,
        _ visited: [String]
    ) async throws(FileStoreError) -> ExpiringCredentials? {
        guard let values = profiles.profiles[name] else { throw missing(name) }
        // A profile may be its own source: its keys then assume its role.
        let isOwnSource = visited.last == name
        guard isOwnSource || !visited.contains(name) else {
            throw FileStoreError(
                .invalidArgument,
                "The profiles \(visited.joined(separator: ", ")) are each other's source."
            )
        }
        if !isOwnSource, let role = values["role_arn"] {
            return try await assume(role, name, values, profiles, visited)
        }
        if let id = values["aws_access_key_id"] {
            guard let secret = values["aws_secret_access_key"] else {
                throw FileStoreError(
                    .credentialsMissing,
                    "The profile “\(name)” has no aws_secret_access_key."
                )
            }
            let credentials = AWSCredentials(
                accessKeyID: id,
                secretAccessKey: secret,
                sessionToken: values["aws_session_token"]
            )
            return ExpiringCredentials(credentials: credentials, expiry: nil)
        }
        if values["sso_account_id"] != nil {
            let session = values["sso_session"].flatMap { profiles.sessions[$0] }
            if let missing = values["sso_session"], session == nil {
                throw FileStoreError(
                    .invalidArgument,
                    "AWS's config file has no section [sso-session \(missing)]."
                )
            }
            return try await SingleSignOn(context, profile: name, values, session).credentials()
        }
        if let command = values["credential_process"] {
            return try await CredentialProcess.credentials(command, context)
        }
        return nil
    }

    private func assume(
        _ role: String,
        _ name: String,
        _ values: AWSProfiles.Values,
        _ profiles: AWSProfiles,
        _ visited: [String]
    ) async throws(FileStoreError) -> ExpiringCredentials {
        guard values["mfa_serial"] == nil else {
            throw FileStoreError(
                .unsupported,
                "The profile “\(name)” needs a code of a second factor, for which there is no prompt."
            )
        }
        let service = TokenService(
            context: context,
            region: context.configuration.region ?? context.variable("AWS_REGION")
                ?? context.variable("AWS_DEFAULT_REGION") ?? values["region"] ?? "us-east-1"
        )
        let wanted = TokenService.Role(
            name: role,
            session: values["role_session_name"],
            externalID: values["external_id"],
            duration: values["duration_seconds"]
        )
        if let file = values["web_identity_token_file"] {
            return try await service.assume(wanted, withToken: try context.token(in: file))
        }
        let source: ExpiringCredentials?
        if let other = values["source_profile"] {
            source = try await credentials(of: other, profiles, visited + [name])
        } else {
            source = try await named(values["credential_source"], name)
        }
        guard let source else {
            throw FileStoreError(
                .credentialsMissing,
                "The source of the profile “\(name)” has no credentials."
            )
        }
        return try await service.assume(wanted, by: source.credentials)
    }

    private func named(
        _ source: String?,
        _ name: String
    ) async throws(FileStoreError) -> ExpiringCredentials? {
        let finding: CredentialFinding
        switch source {
        case "Environment": finding = try await EnvironmentSource(context).fetch()
        case "Ec2InstanceMetadata": finding = try await InstanceSource(context).fetch()
        case "EcsContainer": finding = try await ContainerSource(context).fetch()
        default:
            throw FileStoreError(
                .invalidArgument,
                """
                The profile “\(name)” has a role_arn, and needs source_profile, credential_source \
                or web_identity_token_file.
                """
            )
        }
        guard case .found(let credentials) = finding else { return nil }
        return credentials
    }

    private func missing(_ name: String) -> FileStoreError {
        FileStoreError(.credentialsMissing, "AWS's files have no profile “\(name)”.")
    }
}
#endif
