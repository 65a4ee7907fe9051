#if Crypto
internal import KeelCore
internal import KeelFiles
public import KeelHTTP
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The credentials that AWS's own tools would use on this machine.
///
/// ```swift
/// let chain = AWSCredentialsChain(transport: transport)
/// let bucket = S3FileStoreAdapter.Configuration(
///     bucket: "photos",
///     region: "eu-central-1",
///     credentials: chain
/// )
/// ```
///
/// The sources are asked in this order, and the first one that is configured decides:
///
/// 1. the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, unless
///    ``Configuration/profile`` names a profile;
/// 2. the web identity of `AWS_WEB_IDENTITY_TOKEN_FILE` and `AWS_ROLE_ARN`, as for pods of Kubernetes, unless
///    ``Configuration/profile`` names a profile;
/// 3. the profile, in `~/.aws/credentials` and `~/.aws/config`: a role with `source_profile`, `credential_source` or
///    `web_identity_token_file`, keys, single sign-on, or `credential_process`;
/// 4. the container's endpoint: `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` or `AWS_CONTAINER_CREDENTIALS_FULL_URI`;
/// 5. the metadata service of EC2, version 2 only, unless `AWS_EC2_METADATA_DISABLED` is `true`.
///
/// A source that is configured and fails ends the search with its error, because the next source could belong to
/// another account. A command of `credential_process` is killed after a minute, and when no caller waits any more.
/// Temporary credentials are renewed five minutes before they expire. Concurrent callers share one renewal; if it
/// fails, the current credentials are used until a minute before their end.
public final class AWSCredentialsChain: AWSCredentialsProvider {
    /// The settings of a chain.
    public struct Configuration: Sendable {
        /// The environment variables.
        public var environment: [String: String]
        /// The profile to use instead of the environment's keys; nil for `AWS_PROFILE`, and `default` without it.
        public var profile: String?
        /// The region of the token service; nil for the region of the environment or of the profile, otherwise
        /// `us-east-1`.
        public var region: String?

        /// Creates a configuration.
        public init(
            environment: [String: String] = ProcessInfo.processInfo.environment,
            profile: String? = nil,
            region: String? = nil
        ) {
            self.environment = environment.filter { !$0.value.isEmpty }
            self.profile = profile
            self.region = region
        }
    }

    /// The time before the end of credentials at which they are renewed, in seconds.
    private static let renewal: TimeInterval = 300
    /// The time before the end of credentials until which they are used if they cannot be renewed, in seconds.
    private static let reserve: TimeInterval = 60

    private let context: CredentialContext
    private let kept = Mutex<ExpiringCredentials?>(nil)
    private let flight = SingleFlight<Int, AWSCredentials>()

    /// Creates a chain, without reading anything.
    public convenience init(
        _ configuration: Configuration = Configuration(),
        transport: any HTTPTransport
    ) {
        self.init(configuration, transport: transport, now: { Date() })
    }

    package init(
        _ configuration: Configuration,
        transport: any HTTPTransport,
        containerOrigin: String = "http://169.254.170.2",
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date
    ) {
        context = CredentialContext(
            configuration: configuration,
            transport: transport,
            containerOrigin: containerOrigin,
            now: now,
            clock: clock
        )
    }

    /// Returns the credentials of the first source that is configured.
    ///
    /// - Throws: `CancellationError`, or `FileStoreError`: `credentialsMissing`, whose message says which sources were
    ///   asked and why each had nothing, `credentialsRefused` or `unavailable` if a service refused or could not be
    ///   reached, or another error of the source.
    public func credentials() async throws -> AWSCredentials {
        let current = kept.withLock { $0 }
        if let current, current.remains(Self.renewal, at: context.now()) {
            return current.credentials
        }
        do {
            return try await flight.run(0) { try await self.renew() }
        } catch let error as FileStoreError {
            guard let current, current.remains(Self.reserve, at: context.now()) else { throw error }
            return current.credentials
        }
    }

    /// Returns new credentials if the refused ones are the current ones.
    ///
    /// - Throws: The errors of ``credentials()``.
    public func credentials(after refused: AWSCredentials) async throws -> AWSCredentials {
        kept.withLock { if $0?.credentials == refused { $0 = nil } }
        return try await credentials()
    }

    private func renew() async throws -> AWSCredentials {
        // Another caller may have renewed between the look and the flight.
        let current = kept.withLock { $0 }
        if let current, current.remains(Self.renewal, at: context.now()) {
            return current.credentials
        }
        let fetched = try await fetch()
        kept.withLock { $0 = fetched }
        return fetched.credentials
    }

    private func fetch() async throws(FileStoreError) -> ExpiringCredentials {
        var reasons: [String] = []
        var sources: [any CredentialSource] = [
            WebIdentitySource(context), ProfileSource(context), ContainerSource(context),
            InstanceSource(context),
        ]
        if context.configuration.profile == nil {
            sources.insert(EnvironmentSource(context), at: 0)
        }
        for source in sources {
            switch try await source.fetch() {
            case .found(let credentials): return credentials
            case .absent(let reason): reasons.append("\(source.name): \(reason)")
            }
        }
        throw FileStoreError(
            .credentialsMissing,
            "No source has credentials. " + reasons.joined(separator: "; ") + "."
        )
    }
}

extension AWSCredentialsChain: CustomStringConvertible, CustomReflectable {
    public var description: String { "AWSCredentialsChain()" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

struct ExpiringCredentials: Sendable {
    let credentials: AWSCredentials
    /// The end; nil for permanent credentials.
    let expiry: Date?

    /// Returns whether the credentials are valid for longer than a time in seconds.
    func remains(_ seconds: TimeInterval, at now: Date) -> Bool {
        guard let expiry else { return true }
        return expiry.timeIntervalSince(now) > seconds
    }
}

enum CredentialFinding: Sendable {
    case found(ExpiringCredentials)
    /// The source is not configured, for this reason.
    case absent(String)
}

protocol CredentialSource: Sendable {
    var name: String { get }

    /// Returns the credentials, or throws if the source is configured and has none.
    func fetch() async throws(FileStoreError) -> CredentialFinding
}

struct EnvironmentSource: CredentialSource {
    let name = "environment"
    private let environment: [String: String]

    init(_ context: CredentialContext) { environment = context.configuration.environment }

    func fetch() async throws(FileStoreError) -> CredentialFinding {
        guard let id = environment["AWS_ACCESS_KEY_ID"] else {
            return .absent("AWS_ACCESS_KEY_ID is not set")
        }
        guard let secret = environment["AWS_SECRET_ACCESS_KEY"] else {
            throw FileStoreError(
                .credentialsMissing,
                "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not."
            )
        }
        let credentials = AWSCredentials(
            accessKeyID: id,
            secretAccessKey: secret,
            sessionToken: environment["AWS_SESSION_TOKEN"]
        )
        return .found(ExpiringCredentials(credentials: credentials, expiry: nil))
    }
}
#endif
