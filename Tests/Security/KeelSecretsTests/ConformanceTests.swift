import KeelConformance
import KeelSecrets
import KeelTestKit
import Testing

@Suite("Secret stores keep their promises")
struct ConformanceTests {
    @Test("An in-memory store", arguments: SecretStoreCheck.applicable(to: Self.memory))
    func inMemory(_ check: SecretStoreCheck) async throws {
        try await check.run(
            on: SecretStoreSubject(features: Self.memory) { _ in InMemorySecretStoreAdapter() }
        )
    }

    private static let memory: SecretStoreSubject.Features = [.writable, .anyBytes, .anyNames]

    @Test("A store with every decorator", arguments: SecretStoreCheck.applicable(to: Self.memory))
    func decorators(_ check: SecretStoreCheck) async throws {
        try await check.run(
            on: SecretStoreSubject(features: Self.memory) { _ in
                InMemorySecretStoreAdapter().failing([]).recorded().observed { _ in }
            }
        )
        try await check.run(
            on: SecretStoreSubject(features: Self.memory) { _ in
                PlatformSecretStoreAdapter(candidates: [InMemorySecretStoreAdapter()])
            }
        )
    }

    @Test("The environment", arguments: SecretStoreCheck.applicable(to: .readOnly))
    func environment(_ check: SecretStoreCheck) async throws {
        try await check.run(
            on: SecretStoreSubject(features: .readOnly) { setting in
                var variables = ["PATH": "/bin"]
                for (name, bytes) in setting.contents {
                    variables["T_" + name.account] = String(decoding: bytes, as: UTF8.self)
                }
                return try EnvironmentSecretStoreAdapter(
                    service: setting.name,
                    prefix: "T_",
                    variables: variables
                )
            }
        )
    }

    @Test("There are at least sixty checks with unique names")
    func count() {
        let names = SecretStoreCheck.all.map(\.testDescription)
        #expect(Set(names).count == names.count)
        #expect(SecretStoreCheck.applicable(to: .complete).count >= 60)
    }

    @Test("The environment compares names by their bytes")
    func bytes() async throws {
        let accent = "\u{301}"
        let variables = ["T_K": "1", "T_" + accent: "2", "T_": "3", "U_K": "4"]
        let adapter = try EnvironmentSecretStoreAdapter(
            service: "K",
            prefix: "T_",
            variables: variables
        )
        let kelvin = "\u{212A}"
        #expect(try await adapter.read(SecretName(service: "K", account: "K")) == Array("1".utf8))
        #expect(try await adapter.read(SecretName(service: "K", account: kelvin)) == nil)
        #expect(try await adapter.read(SecretName(service: kelvin, account: "K")) == nil)
        #expect(try await adapter.accounts(of: "K").sorted() == ["K", accent])
        #expect(try await adapter.accounts(of: kelvin).isEmpty)
    }

    @Test("The environment requires a prefix")
    func prefix() {
        #expect(throws: SecretError.self) {
            try EnvironmentSecretStoreAdapter(service: "a", prefix: "")
        }
    }
}
