#if Crypto && AsyncHTTPClient
import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelFiles
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelFilesS3

@Suite(
    "The chain of credentials",
    .enabled(if: S3Peer.isPresent, S3Peer.absence),
    .timeLimit(.minutes(5))
)
final class CredentialsChainTests: Sendable {
    private let services: S3Peer
    private let home: URL
    /// An hour before the credentials of the services end.
    private let now = Mutex(Date(timeIntervalSince1970: 1_798_761_600))

    init() throws {
        services = try S3Peer.shared(.services)
        home = FileManager.default.temporaryDirectory
            .appending(path: "keel-chain-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: home.appending(path: ".aws/sso/cache"),
            withIntermediateDirectories: true
        )
    }

    deinit { try? FileManager.default.removeItem(at: home) }

    private func environment(_ values: [String: String]) -> [String: String] {
        [
            "HOME": home.path, "PATH": "/usr/bin:/bin", "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL_STS": services.endpoint, "AWS_ENDPOINT_URL_SSO": services.endpoint,
            "AWS_ENDPOINT_URL_SSO_OIDC": services.endpoint, "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
        ].merging(values) { $1 }
    }

    private func chain(
        _ values: [String: String] = [:],
        profile: String? = nil
    ) -> AWSCredentialsChain {
        AWSCredentialsChain(
            .init(environment: environment(values), profile: profile),
            transport: services.transport,
            containerOrigin: services.endpoint,
            clock: TestClock(),
            now: { self.now.withLock { $0 } }
        )
    }

    private func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: home.appending(path: name))
    }

    /// Returns the id of the key that botocore finds with the same files and variables.
    private func botocore(_ values: [String: String] = [:], profile: String? = nil) throws -> String
    {
        let process = Process()
        process.executableURL = URL(filePath: try #require(S3Peer.interpreter))
        process.arguments = [
            "-c",
            """
            import sys, botocore.session
            session = botocore.session.Session(profile=sys.argv[1] or None)
            print(session.get_credentials().get_frozen_credentials().access_key)
            """, profile ?? "",
        ]
        // Its default for the metadata service is one second.
        let patience = ["AWS_METADATA_SERVICE_TIMEOUT": "60"]
        process.environment = environment(values).merging(patience) { $1 }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func message(
        _ chain: AWSCredentialsChain
    ) async throws -> (code: FileStoreError.Code, text: String) {
        let error = await #expect(throws: FileStoreError.self) { try await chain.credentials() }
        let found = try #require(error)
        return (found.code, found.message)
    }

    @Test("Without any source, the error says which were asked and why each had nothing")
    func nothing() async throws {
        let error = try await message(chain())
        #expect(error.code == .credentialsMissing)
        for part in [
            "environment: AWS_ACCESS_KEY_ID is not set",
            "web identity: AWS_WEB_IDENTITY_TOKEN_FILE is not set",
            "profile: there is no profile “default”",
            "container: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
            "instance: AWS_EC2_METADATA_DISABLED is true",
        ] {
            #expect(error.text.contains(part), "\(error.text)")
        }
        let half = try await message(chain(["AWS_ACCESS_KEY_ID": "A"]))
        #expect(half.text.contains("AWS_SECRET_ACCESS_KEY is not"))
    }

    @Test("Keys of the environment, of a profile and of its sources are those of botocore")
    func profiles() async throws {
        try write(
            """
            # A comment
            [default]
            aws_access_key_id = DEFAULT
            aws_secret_access_key=a=b

            [base]
            aws_access_key_id = BASE
            aws_secret_access_key = secret
            """,
            ".aws/credentials"
        )
        try write("identity\n", "identity")
        try write(
            """
            [profile own]
            aws_access_key_id = OWN
            aws_secret_access_key = secret
            s3 =
                max_concurrent_requests = 20
            [profile role]
            role_arn = arn:aws:iam::1:role/First
            source_profile = base
            external_id = 77
            [profile second]
            role_arn = arn:aws:iam::1:role/Second
            source_profile = role
            [profile self]
            role_arn = arn:aws:iam::1:role/Self
            source_profile = self
            aws_access_key_id = SELF
            aws_secret_access_key = secret
            [profile env]
            role_arn = arn:aws:iam::1:role/Env
            credential_source = Environment
            [profile web]
            role_arn = arn:aws:iam::1:role/Web
            web_identity_token_file = \(home.path)/identity
            [profile process]
            credential_process = /bin/echo '{"Version": 1, "AccessKeyId": "PROCESS ID", "SecretAccessKey": "s"}'
            [profile a]
            role_arn = arn:aws:iam::1:role/A
            source_profile = b
            [profile b]
            role_arn = arn:aws:iam::1:role/B
            source_profile = a
            [profile denied]
            role_arn = arn:aws:iam::1:role/Denied
            source_profile = base
            external_id = 88
            """,
            ".aws/config"
        )
        let keys = ["AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "secret"]
        let table: [(values: [String: String], profile: String?, id: String)] = [
            (keys, nil, "ENV"), ([:], nil, "DEFAULT"), (["AWS_PROFILE": "base"], nil, "BASE"),
            (keys, "own", "OWN"), ([:], "role", "First-BY-BASE"),
            ([:], "second", "Second-BY-First-BY-BASE"), ([:], "self", "Self-BY-SELF"),
            (keys, "env", "Env-BY-ENV"), ([:], "web", "Web-BY-identity"),
            ([:], "process", "PROCESS ID"),
            (
                [
                    "AWS_WEB_IDENTITY_TOKEN_FILE": home.path + "/identity",
                    "AWS_ROLE_ARN": "arn:aws:iam::1:role/Pod",
                ], nil, "Pod-BY-identity"
            ),
        ]
        for row in table {
            let found = try await chain(row.values, profile: row.profile).credentials()
            #expect(found.accessKeyID == row.id)
            #expect(try botocore(row.values, profile: row.profile) == row.id)
        }
        let loop = try await message(chain(profile: "a"))
        #expect(loop.code == .invalidArgument && loop.text.contains("each other's source"))
        let denied = try await message(chain(profile: "denied"))
        #expect(denied.code == .credentialsRefused && denied.text.contains("403 (AccessDenied)"))
        #expect(try await message(chain(profile: "none")).text.contains("no profile “none”"))
    }

    private static let signOn = """
        [sso-session company]
        sso_start_url = https://company.example/start
        sso_region = us-east-1
        [default]
        sso_session = company
        sso_account_id = 123
        sso_role_name = Reader
        """
    // Its name is the SHA-1 of “company”.
    private static let tokenFile = ".aws/sso/cache/71b21161ffa1e6516bcc072aaf5ef38cbe85b511.json"

    private static func token(_ text: String = "valid", until expiry: String) -> String {
        """
        {"startUrl": "https://company.example/start", "region": "us-east-1",
        "accessToken": "\(text)", "expiresAt": "\(expiry)", "clientId": "client",
        "clientSecret": "client secret", "registrationExpiresAt": "2027-02-01T00:00:00Z",
        "refreshToken": "refresh"}
        """
    }

    private static let role = ScriptedHTTPTransport.Answer.json(
        """
        {"roleCredentials": {"accessKeyId": "A", "secretAccessKey": "s",
        "sessionToken": "t", "expiration": 1798765200000}}
        """
    )

    private func chain(over transport: ScriptedHTTPTransport) -> AWSCredentialsChain {
        AWSCredentialsChain(
            .init(environment: environment([:])),
            transport: transport,
            clock: TestClock(),
            now: { self.now.withLock { $0 } }
        )
    }

    @Test("Single sign-on uses the token of the cache, and renews it before it ends")
    func singleSignOn() async throws {
        try write(Self.signOn, ".aws/config")
        #expect(try await message(chain()).text.contains("run “aws sso login --profile default”"))
        let file = Self.tokenFile
        try write(Self.token(until: "2027-01-01T08:00:00Z"), file)
        #expect(try await chain().credentials().accessKeyID == "SSO-123-Reader-valid")
        #expect(try botocore() == "SSO-123-Reader-valid")
        try write(Self.token(until: "2027-01-01T00:00:30Z"), file)
        #expect(try await chain().credentials().accessKeyID == "SSO-123-Reader-renewed")
        let kept = try String(contentsOf: home.appending(path: file), encoding: .utf8)
        #expect(kept.contains(#""refreshToken":"next""#) && kept.contains("startUrl"))
        let mode = try FileManager.default.attributesOfItem(
            atPath: home.appending(path: file).path
        )[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
    }

    @Test("Single sign-on uses the token that another process has renewed at the same time")
    func renewedElsewhere() async throws {
        try write(Self.signOn, ".aws/config")
        try write(Self.token("old", until: "2026-12-31T23:59:00Z"), Self.tokenFile)
        let transport = ScriptedHTTPTransport([
            // The other process was sooner, and has used up the refresh token.
            ScriptedHTTPTransport.Answer { [home] _ async throws(TransportError) in
                let text = Self.token("renewed", until: "2027-01-01T08:00:00Z")
                try? Data(text.utf8).write(to: home.appending(path: Self.tokenFile))
                return HTTPReply(head: HTTPResponse(status: .badRequest))
            },
            Self.role,
        ])
        #expect(try await chain(over: transport).credentials().accessKeyID == "A")
        let field = try #require(HTTPField.Name("x-amz-sso_bearer_token"))
        #expect(transport.calls.last?.head.headerFields[field] == "renewed")
        try transport.verify()
    }

    @Test("A token whose file cannot be written again is not renewed, which would use it up")
    func keepsRefreshToken() async throws {
        try write(Self.signOn, ".aws/config")
        let text = Self.token(until: "2027-01-01T00:00:30Z")
        try write("{\"scopes\": [\"a\"], " + text.dropFirst(), Self.tokenFile)
        let transport = ScriptedHTTPTransport([Self.role])
        #expect(try await chain(over: transport).credentials().accessKeyID == "A")
        #expect(transport.calls.last?.head.method == .get)
        try transport.verify()
    }

    @Test("A container is asked with the token of its file, and only over a safe connection")
    func container() async throws {
        try write("the token\n", "token")
        let token = ["AWS_CONTAINER_AUTHORIZATION_TOKEN": "the token"]
        let full = ["AWS_CONTAINER_CREDENTIALS_FULL_URI": services.endpoint + "/container"]
        let relative = ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/container"]
        for address in [full, relative] {
            let values = address.merging(token) { $1 }
            #expect(try await chain(values).credentials().accessKeyID == "CONTAINER")
        }
        #expect(try botocore(full.merging(token) { $1 }) == "CONTAINER")
        #expect(try await message(chain(full)).text.contains("answered 403"))
        let others = [
            "example.com", "127.0.0.1.example.com", "169.254.170.3", "[::2]",
            "localhost:80@example.com",
        ]
        for host in others {
            let error = try await message(
                chain(["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://\(host)/container"])
            )
            #expect(error.text.contains("needs HTTPS"))
        }
        for host in ["127.0.0.1:80", "localhost", "[::1]:80", "169.254.170.2", "[fd00:ec2::23]"] {
            #expect(ContainerSource.isLocal(host))
        }
        #expect(!ContainerSource.isLocal("localhost:80@\u{301}.example.com"))
        let broken = full.merging(["AWS_CONTAINER_AUTHORIZATION_TOKEN": "a\r\nb: c"]) { $1 }
        #expect(try await message(chain(broken)).text.contains("line end"))
    }

    @Test("An instance is asked with a token of version 2")
    func instance() async throws {
        let values = [
            "AWS_EC2_METADATA_DISABLED": "false",
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": services.endpoint,
        ]
        #expect(try await chain(values).credentials().accessKeyID == "INSTANCE")
        #expect(try botocore(values) == "INSTANCE")
        // Nobody listens there.
        let none = [
            "AWS_EC2_METADATA_DISABLED": "false",
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:1",
        ]
        let error = try await message(chain(none))
        #expect(error.text.contains("instance: there is no metadata service"))
    }

    @Test("Credentials are renewed before they end, once for all callers")
    func renewal() async throws {
        let chain = self.chain([
            "AWS_EC2_METADATA_DISABLED": "false",
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": services.endpoint,
        ])
        func tokens() async throws -> Set<String?> {
            try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await chain.credentials().sessionToken }
                }
                return try await group.reduce(into: []) { $0.insert($1) }
            }
        }
        let first = try await tokens()
        #expect(first.count == 1)
        #expect(try await tokens() == first)
        now.withLock { $0 += 3600 - 301 }
        #expect(try await tokens() == first)
        now.withLock { $0 -= 3600 - 301 }
        let current = try await chain.credentials()
        let next = try await chain.credentials(after: current)
        #expect(next.sessionToken != current.sessionToken)
        // Other credentials than the current ones were refused: nothing is renewed.
        #expect(try await chain.credentials(after: current) == next)
        now.withLock { $0 += 3600 - 299 }
        #expect(try await chain.credentials().sessionToken != next.sessionToken)
    }

    @Test("A command of a profile receives signals")
    func signals() async throws {
        let command = "/bin/sh -c 'kill -TERM $$; echo {}'"
        try write("[default]\ncredential_process = \(command)\n", ".aws/config")
        let error = try await message(chain())
        #expect(error.code == .credentialsMissing && error.text.contains("“/bin/sh” failed"))
    }

    @Test("A command of a profile is killed after its limit")
    func limit() async throws {
        let context = CredentialContext(
            configuration: .init(environment: environment([:])),
            transport: services.transport,
            containerOrigin: services.endpoint,
            now: { Date.now }
        )
        await expectError(FileStoreError.self, .timeout) {
            // It returns only when the command has ended.
            try await CredentialProcess.credentials("/bin/sleep 600", context, limit: .zero)
        }
    }

    @Test("A command of a profile is killed when its last caller is canceled")
    func cancellation() async throws {
        let note = home.appending(path: "number")
        let command = "/bin/sh -c 'echo $$ > \(note.path); exec /bin/sleep 600'"
        try write("[default]\ncredential_process = \(command)\n", ".aws/config")
        let chain = self.chain()
        let call = Task { try await chain.credentials() }
        func number() -> pid_t? {
            guard let text = try? String(contentsOf: note, encoding: .utf8), text.hasSuffix("\n")
            else { return nil }
            return pid_t(text.dropLast())
        }
        try await waitUntil { number() != nil }
        let child = try #require(number())
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        try await waitUntil { kill(child, 0) != 0 }
    }

    @Test("A command is split into words as AWS's tools do")
    func words() {
        let words = CredentialProcess.words(of: #"a "b c" 'd "e"' f\ g "h\"i" """#)
        #expect(words == ["a", "b c", #"d "e""#, "f g", #"h"i"#, ""])
        #expect(CredentialProcess.words(of: "a 'b") == nil)
    }
}
#endif
