import KeelSecrets
import Synchronization
import Testing

@Suite("The default store")
struct DefaultStoreTests {
    /// A store that cannot be used just now.
    private struct Refusing: SecretStoreAdapter {
        func capabilities() async -> SecretStoreCapabilities {
            SecretStoreCapabilities(
                kind: .secretService,
                features: [.writable, .persistent, .locked],
                problem: .locked
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

    @Test("An explicit choice is taken as it is, memory and a locked store too")
    func choice() async throws {
        let memory = InMemorySecretStoreAdapter()
        let first = try await SecretStore.platformDefault(service: "a", choosing: memory)
        #expect(await first.capabilities().kind == .memory)
        let second = try await SecretStore.platformDefault(service: "a", choosing: Refusing())
        #expect(await second.capabilities().isLocked)
    }

    @Test("A store with a problem is passed over")
    func passedOver() async throws {
        let memory = InMemorySecretStoreAdapter()
        let store = try await SecretStore.choose(service: "a", nil, from: [Refusing(), memory])
        #expect(await store.capabilities().kind == .memory)
    }

    @Test("Looking later finds the same, stays with it, and looks again where there was none")
    func later() async throws {
        let first = InMemorySecretStoreAdapter()
        let isLocked = Mutex(true)
        let late = LateStore(isLocked: { isLocked.withLock { $0 } }, adapter: first)
        let adapter = PlatformSecretStoreAdapter(candidates: [Refusing(), late])
        let store = try SecretStore(adapter, service: "a")
        #expect(await store.capabilities().problem == .noStore)
        let error = await #expect(throws: SecretError.self) { try await store.list() }
        #expect(error?.code == .noStore)
        isLocked.withLock { $0 = false }
        try await store.save("1", forKey: "b")
        #expect(try await first.accounts(of: "a") == ["b"])
        isLocked.withLock { $0 = true }
        #expect(try await store.loadString(forKey: "b") == "1")
    }

    /// A store in memory that may have a problem.
    private struct LateStore: SecretStoreAdapter {
        let isLocked: @Sendable () -> Bool
        let adapter: InMemorySecretStoreAdapter

        func capabilities() async -> SecretStoreCapabilities {
            var capabilities = await adapter.capabilities()
            if isLocked() { capabilities.problem = .locked }
            return capabilities
        }

        func read(_ name: SecretName) async throws(SecretError) -> [UInt8]? {
            try await adapter.read(name)
        }

        func replace(
            _ name: SecretName,
            with bytes: [UInt8]?,
            expecting expectation: SecretExpectation
        ) async throws(SecretError) -> Bool {
            try await adapter.replace(name, with: bytes, expecting: expectation)
        }

        func accounts(of service: String) async throws(SecretError) -> [String] {
            try await adapter.accounts(of: service)
        }
    }

    @Test("A look that is cancelled chooses nothing")
    func cancelled() async throws {
        struct Cancelled: SecretStoreAdapter {
            let memory = InMemorySecretStoreAdapter()

            func capabilities() async -> SecretStoreCapabilities {
                SecretStoreCapabilities(kind: .secretService, features: [], problem: .cancelled)
            }

            func read(_ name: SecretName) async throws(SecretError) -> [UInt8]? { nil }

            func replace(
                _ name: SecretName,
                with bytes: [UInt8]?,
                expecting expectation: SecretExpectation
            ) async throws(SecretError) -> Bool { true }

            func accounts(of service: String) async throws(SecretError) -> [String] { [] }
        }
        let memory = InMemorySecretStoreAdapter()
        let adapter = PlatformSecretStoreAdapter(candidates: [Cancelled(), memory])
        let store = try SecretStore(adapter, service: "a")
        let error = await #expect(throws: SecretError.self) {
            try await store.save("1", forKey: "b")
        }
        #expect(error?.code == .cancelled)
        #expect(try await memory.accounts(of: "a").isEmpty)
    }

    @Test("Where no store can be used, the error says why")
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
