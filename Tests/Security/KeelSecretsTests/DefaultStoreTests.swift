import KeelCore
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelSecrets

@Suite("The default store")
struct DefaultStoreTests {
    /// A store that is currently unusable.
    private struct Refusing: SecretStoreAdapter {
        var problem = SecretError.Code.locked

        func capabilities() async -> SecretStoreCapabilities {
            SecretStoreCapabilities(
                kind: .secretService,
                features: [.writable, .persistent, .locked],
                problem: problem
            )
        }

        func read(_ name: SecretName) async throws(SecretError) -> [UInt8]? {
            throw SecretError(.locked, "It is locked.")
        }

        func replace(
            _ name: SecretName,
            with bytes: [UInt8]?,
            expecting expectation: SecretExpectation
        ) async throws(SecretError) -> Bool {
            throw SecretError(.locked, "It is locked.")
        }

        func accounts(of service: String) async throws(SecretError) -> [String] {
            throw SecretError(.locked, "It is locked.")
        }
    }

    @Test("An explicit choice is used as it is, even memory or a locked store")
    func choice() async throws {
        let memory = InMemorySecretStoreAdapter()
        let first = try await SecretStore.platformDefault(service: "a", store: memory)
        #expect(await first.capabilities().kind == .memory)
        let second = try await SecretStore.platformDefault(service: "a", store: Refusing())
        #expect(await second.capabilities().isLocked)
    }

    @Test("An unavailable store is skipped, and a locked one is not")
    func passedOver() async throws {
        let memory = InMemorySecretStoreAdapter()
        let store = try await SecretStore.choose(
            service: "a",
            nil,
            from: [Refusing(problem: .noBus), memory]
        )
        #expect(await store.capabilities().kind == .memory)
        for problem in [SecretError.Code.locked, .timeout] {
            await expectError(SecretError.self, .noStore) {
                try await SecretStore.choose(
                    service: "a",
                    nil,
                    from: [Refusing(problem: problem), memory]
                )
            }
        }
    }

    #if Crypto
    /// A keyring with a changing state, and an encrypted file beside it.
    private struct Desktop {
        let keyring: Keyring
        let files = SimulatedFileSystem()

        init(_ problem: SecretError.Code?) { keyring = Keyring(problem) }

        /// Returns the store for a program that starts now.
        func store() async throws(SecretError) -> SecretStore {
            let file = EncryptedFileSecretStoreAdapter(
                folder: "/secrets",
                key: .source(FixedKeySource()),
                files: files
            )
            return try await SecretStore.choose(
                service: "a",
                nil,
                from: [keyring, file],
                noted: file.choice
            )
        }

        /// Returns the same store through the adapter that chooses on first use.
        func laterStore() throws -> SecretStore {
            let file = EncryptedFileSecretStoreAdapter(
                folder: "/secrets",
                key: .source(FixedKeySource()),
                files: files
            )
            let adapter = PlatformSecretStoreAdapter(
                candidates: [keyring, file],
                noted: file.choice
            )
            return try SecretStore(adapter, service: "a")
        }
    }

    @Test(
        "A chosen store stays chosen, whichever stores are available at the next launch",
        arguments: [SecretError.Code.locked, .noBus, .unavailable, .timeout]
    )
    func remembered(_ problem: SecretError.Code) async throws {
        let desktop = Desktop(nil)
        try await desktop.store().save("1", forKey: "token")
        desktop.keyring.set(problem)
        await expectError(SecretError.self, .noStore) { try await desktop.store() }
        await #expect(throws: SecretError.self) {
            try await desktop.laterStore().save("2", forKey: "token")
        }
        desktop.keyring.set(nil)
        #expect(try await desktop.store().loadString(forKey: "token") == "1")
        #expect(try await desktop.laterStore().loadString(forKey: "token") == "1")
    }

    @Test("A program that started without a keyring still finds its secrets when there is one")
    func rememberedFile() async throws {
        let desktop = Desktop(.noBus)
        try await desktop.store().save("1", forKey: "token")
        desktop.keyring.set(nil)
        #expect(try await desktop.store().loadString(forKey: "token") == "1")
        #expect(await desktop.keyring.names.isEmpty)
    }

    @Test("Without a recorded choice, the store with the service's secrets is chosen")
    func unnoted() async throws {
        let desktop = Desktop(.noBus)
        try await desktop.store().save("1", forKey: "token")
        try desktop.files.remove("/secrets/secrets.choice")
        desktop.keyring.set(nil)
        #expect(await desktop.keyring.names.isEmpty)
        #expect(try await desktop.store().loadString(forKey: "token") == "1")
    }

    @Test("A store is not used while its choice cannot be recorded")
    func fullDisk() async throws {
        let desktop = Desktop(nil)
        desktop.files.limit(to: 0)
        await expectError(SecretError.self, .diskFull) { try await desktop.store() }
        await expectError(SecretError.self, .diskFull) {
            try await desktop.laterStore().save("1", forKey: "token")
        }
        // Otherwise the secret would be out of reach of this launch.
        desktop.files.limit(to: nil)
        desktop.keyring.set(.noBus)
        #expect(try await desktop.store().list().isEmpty)
        #expect(await desktop.keyring.names.isEmpty)
    }

    @Test("Reading the capabilities makes no choice")
    func look() async throws {
        let desktop = Desktop(.noBus)
        let store = try desktop.laterStore()
        #expect(await store.capabilities().kind == .encryptedFile)
        desktop.keyring.set(nil)
        try await store.save("1", forKey: "token")
        #expect(await !desktop.keyring.names.isEmpty)
    }

    /// A store in memory that claims to be a keyring.
    private struct Keyring: ForwardingSecretStoreAdapter {
        private final class Box: Sendable {
            let problem: Mutex<SecretError.Code?>
            init(_ problem: SecretError.Code?) { self.problem = Mutex(problem) }
        }

        let upstream = InMemorySecretStoreAdapter()
        private let box: Box

        init(_ problem: SecretError.Code?) { box = Box(problem) }

        func set(_ problem: SecretError.Code?) { box.problem.withLock { $0 = problem } }

        var names: [String] { get async { (try? await upstream.accounts(of: "a")) ?? [] } }

        func capabilities() async -> SecretStoreCapabilities {
            SecretStoreCapabilities(
                kind: .secretService,
                features: [.writable, .persistent],
                problem: box.problem.withLock { $0 }
            )
        }
    }
    #endif

    @Test("Without a usable store the choice is repeated, and a choice made later is kept")
    func later() async throws {
        let first = InMemorySecretStoreAdapter()
        let isLocked = Mutex(true)
        let late = LateStore(isLocked: { isLocked.withLock { $0 } }, upstream: first)
        let adapter = PlatformSecretStoreAdapter(candidates: [Refusing(problem: .noBus), late])
        let store = try SecretStore(adapter, service: "a")
        #expect(await store.capabilities().problem == .noStore)
        await expectError(SecretError.self, .noStore) { try await store.list() }
        isLocked.withLock { $0 = false }
        try await store.save("1", forKey: "b")
        #expect(try await first.accounts(of: "a") == ["b"])
        isLocked.withLock { $0 = true }
        #expect(try await store.loadString(forKey: "b") == "1")
    }

    /// A store in memory that may have a problem.
    private struct LateStore: ForwardingSecretStoreAdapter {
        let isLocked: @Sendable () -> Bool
        let upstream: InMemorySecretStoreAdapter

        func capabilities() async -> SecretStoreCapabilities {
            var capabilities = await upstream.capabilities()
            if isLocked() { capabilities.problem = .locked }
            return capabilities
        }
    }

    @Test("A cancelled probe chooses nothing")
    func cancelled() async throws {
        struct Cancelled: ForwardingSecretStoreAdapter {
            let upstream = InMemorySecretStoreAdapter()

            func capabilities() async -> SecretStoreCapabilities {
                SecretStoreCapabilities(kind: .secretService, features: [], problem: .cancelled)
            }
        }
        let memory = InMemorySecretStoreAdapter()
        let adapter = PlatformSecretStoreAdapter(candidates: [Cancelled(), memory])
        let store = try SecretStore(adapter, service: "a")
        await expectError(SecretError.self, .cancelled) { try await store.save("1", forKey: "b") }
        #expect(try await memory.accounts(of: "a").isEmpty)
    }

    @Test("Without a usable store, the error states the reasons")
    func none() async {
        do throws(SecretError) {
            _ = try await SecretStore.choose(service: "a", nil, from: [Refusing()])
            Issue.record("a locked store was chosen")
        } catch {
            #expect(error.code == .noStore)
            #expect(error.message.contains("secretService: locked"))
        }
        await #expect(throws: SecretError.self) {
            try await SecretStore.choose(service: "a", nil, from: [])
        }
    }
}
