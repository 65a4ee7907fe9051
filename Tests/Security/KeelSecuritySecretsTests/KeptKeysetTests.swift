#if Crypto
import KeelTestSupport
import Foundation
import KeelCore
import KeelSecrets
import KeelSecurity
import KeelSecuritySecrets
import KeelTestKit
import Testing

@Suite("A keyset protected by the app's secret store", .timeLimit(.minutes(2)))
struct KeptKeysetTests {
    private let adapter = InMemorySecretStoreAdapter()
    private let files = SimulatedFileSystem()

    private func service(
        _ adapter: any SecretStoreAdapter,
        on files: SimulatedFileSystem? = nil
    ) throws -> SecurityService {
        let keyset = KeptKeyset(
            path: "/app/keyset.json",
            secrets: try SecretStore(adapter, service: "app"),
            key: "keyset-key",
            files: files ?? self.files
        )
        return SecurityService(opening: { () async throws(SecurityError) in
            try await keyset.ring()
        })
    }

    @Test("A later service decrypts what an earlier one encrypted")
    func restart() throws {
        let sealed = try service(adapter).encrypt(Data("note".utf8))
        #expect(try service(adapter).decrypt(sealed) == Data("note".utf8))
    }

    @Test("Services that start concurrently use one keyset")
    func race() async throws {
        let later = try await racing(20, on: adapter)
        #expect(later.keys?.keyset.keys.count == 1)
    }

    @Test("Without comparison across processes, services create the key one at a time")
    func raceWithoutComparing() async throws {
        _ = try await racing(8, on: CarelessAdapter(adapter))
    }

    /// Returns a service that decrypts what services of concurrent tasks have encrypted.
    private func racing(
        _ count: Int,
        on adapter: any SecretStoreAdapter
    ) async throws -> SecurityService {
        let sealed = try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<count {
                group.addTask {
                    let service = try service(adapter)
                    try await service.prepare()
                    return try service.encrypt(Data([7]))
                }
            }
            return try await group.reduce(into: [Data]()) { $0.append($1) }
        }
        let later = try service(adapter)
        for data in sealed { #expect(try later.decrypt(data) == Data([7])) }
        return later
    }

    @Test("An unreadable store is an error with advice, and no keyset is created")
    func unreadable() throws {
        let sealed = try service(adapter).encrypt(Data("note".utf8))
        let before = try content()
        let locked = adapter.failing { _ in .fail(.locked) }
        let error = expectError(SecurityError.self, .keyStoreFailed) {
            try service(locked).encrypt(Data("more".utf8))
        }
        #expect((error?.cause as? SecretError)?.code == .locked)
        #expect(error?.message.contains("unlock that store or restore it") == true)
        #expect(try content() == before)
        #expect(try service(adapter).decrypt(sealed) == Data("note".utf8))
    }

    @Test("A store that is locked at first creates no keyset, and the next call does")
    func lockedAtFirst() throws {
        let service = try service(adapter.failing([.fail(.locked)]))
        let error = #expect(throws: SecurityError.self) { try service.encrypt(Data()) }
        #expect((error?.cause as? SecretError)?.code == .locked)
        #expect(try files.size(of: "/app/keyset.json") == nil)
        #expect(try service.decrypt(service.encrypt(Data([1]))) == Data([1]))
    }

    @Test("A store that lacks an existing keyset's key gets no other key")
    func lostKey() async throws {
        let sealed = try service(adapter).encrypt(Data("note".utf8))
        let empty = InMemorySecretStoreAdapter()
        let error = #expect(throws: SecurityError.self) { try service(empty).encrypt(Data()) }
        #expect(error?.code == .keyStoreFailed)
        #expect((error?.cause as? SecretError)?.code == .missingKey)
        #expect(try await empty.accounts(of: "app").isEmpty)
        #expect(try service(adapter).decrypt(sealed) == Data("note".utf8))
    }

    @Test("A key created before a crash is used for the keyset created later")
    func crashBetween() async throws {
        let secrets = try SecretStore(adapter, service: "app")
        _ = try await SecretStoreKeySource(secrets, key: "keyset-key").keyEncryptionKey()
        let sealed = try service(adapter).encrypt(Data([1]))
        #expect(try service(adapter).decrypt(sealed) == Data([1]))
        #expect(try await adapter.accounts(of: "app") == ["keyset-key"])
    }

    private func content() throws -> [UInt8] {
        let file = try files.open("/app/keyset.json", for: .reading)
        return try file.read(at: 0, count: try file.size())
    }

    #if os(Linux) || os(macOS)
    @Test("Processes that start concurrently use one keyset, which persists")
    func processes() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "keel-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let sealed = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<4 {
                group.addTask { try await Self.output("encrypt", folder.path, "note \(number)") }
            }
            return try await group.reduce(into: [String]()) { $0.append($1) }
        }
        var plain: Set<String> = []
        for text in sealed { plain.insert(try await Self.output("decrypt", folder.path, text)) }
        #expect(plain == ["note 0", "note 1", "note 2", "note 3"])
    }

    private static func output(_ arguments: String...) async throws -> String {
        let run = try await ProgramRun(try CrashTrial.program("KeelKeysetProgram"), arguments)
        #expect(run.exitCode == 0, "\(run.errors)")
        return run.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
    #endif
}

/// A store that yields between comparing and setting, like one of another process.
private struct CarelessAdapter: ForwardingSecretStoreAdapter {
    let upstream: InMemorySecretStoreAdapter

    init(_ upstream: InMemorySecretStoreAdapter) { self.upstream = upstream }

    func read(_ name: SecretName) async throws(SecretError) -> [UInt8]? {
        let found = try await upstream.read(name)
        for _ in 0..<20 { await Task.yield() }
        return found
    }

    func replace(
        _ name: SecretName,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool {
        guard expectation.holds(for: try await read(name)) else { return false }
        return try await upstream.replace(name, with: bytes, expecting: .anything)
    }
}
#endif
