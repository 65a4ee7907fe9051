import KeelSecrets
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Doubles and decorators of secret stores")
struct DecoratorTests {
    private let name = SecretName(service: "app", account: "token")

    @Test("Observers see calls and failures, but no keys and no secrets")
    func observes() async throws {
        let seen = Mutex<[SecretStoreObservation]>([])
        let clock = TestClock()
        let slow = InMemorySecretStoreAdapter()
            .failing([.delay(.seconds(2)), nil, nil, nil, .fail(.locked)], clock: clock)
        let adapter = slow.observed(clock: clock) { call in seen.withLock { $0.append(call) } }
        let secrets = try SecretStore(adapter, service: "app")
        let saving = Task { try await secrets.save("s3cret", forKey: "token") }
        await clock.advance(by: .seconds(2), onceAsleep: 1)
        try await saving.value
        #expect(try await secrets.loadString(forKey: "token") == "s3cret")
        #expect(try await secrets.list() == ["token"])
        try await secrets.delete(forKey: "token")
        await #expect(throws: SecretError.self) { try await secrets.load(forKey: "token") }
        let calls = seen.withLock { $0 }
        #expect(calls.map(\.operation) == [.save, .read, .list, .delete, .read])
        #expect(calls.map(\.failure) == [nil, nil, nil, nil, .locked])
        #expect(calls[0].duration == .seconds(2))
        #expect(calls.allSatisfy { $0.service == "app" })
        #expect(!"\(calls)".contains("token") && !"\(calls)".contains("s3cret"))
    }

    @Test("Calls are recorded in order")
    func records() async throws {
        let adapter = InMemorySecretStoreAdapter().recorded()
        let secrets = try SecretStore(adapter, service: "app")
        try await secrets.save("1", forKey: "token")
        _ = try await secrets.exists(forKey: "token")
        _ = try await secrets.list()
        #expect(
            adapter.calls == [
                .replace(name, with: Array("1".utf8), expecting: .anything), .read(name),
                .accounts(of: "app"),
            ]
        )
        #expect(adapter.callCount(of: .replace) == 1)
        adapter.forget()
        #expect(adapter.callCount == 0)
    }

    @Test("A lost reply comes after the effect, and a failure before it")
    func faults() async throws {
        let memory = InMemorySecretStoreAdapter()
        let adapter = memory.failing([.fail(), .loseReply()])
        let secrets = try SecretStore(adapter, service: "app")
        for isThere in [false, true] {
            await #expect(throws: SecretError.self) { try await secrets.save("1", forKey: "token") }
            #expect((try await memory.read(name) != nil) == isThere)
        }
        try await secrets.save("2", forKey: "token")
        #expect(adapter.callCount == 3)
    }

    @Test("An unavailable store reports its error for each call")
    func unavailable() async {
        let secrets = SecretStore(unavailable: SecretError(.noStore, "There is none."))
        #expect(await secrets.capabilities().problem == .noStore)
        await expectError(SecretError.self, .noStore) { try await secrets.save("1", forKey: "a") }
        await #expect(throws: SecretError.self) { try await secrets.load(forKey: "a") }
        await #expect(throws: SecretError.self) { try await secrets.list() }
    }
}
