#if os(Linux)
import Foundation
import Glibc
import KeelConformance
import KeelSecrets
import Testing

/// A trait that provides an unlocked keyring on a private bus, whose address this process uses.
private struct UnlockedKeyring: SuiteTrait, TestScoping {
    @TaskLocal static var bus: SessionBus?

    func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { test.isSuite ? self : nil }

    @concurrent
    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        let bus = try await SessionBus()
        defer { bus.stop() }
        try await bus.startKeyring(unlocked: true)
        // libsecret supports no other way. Nothing else in these tests reads this variable.
        setenv("DBUS_SESSION_BUS_ADDRESS", bus.address, 1)
        try await Self.$bus.withValue(bus, operation: function)
    }
}

@Suite(
    "A real Secret Service keeps the promises of secret stores",
    .serialized,
    .enabled(
        if: SessionBus.missing.isEmpty,
        "not installed: \(SessionBus.missing.joined(separator: ", "))"
    ),
    UnlockedKeyring()
)
struct SecretServiceTests {
    /// An adapter that waits longer than usual, as a busy machine may need that.
    private static var patientAdapter: SecretServiceSecretStoreAdapter {
        SecretServiceSecretStoreAdapter(deadline: .seconds(100))
    }

    @Test("Every promise", arguments: SecretStoreCheck.applicable(to: .complete))
    func promises(_ check: SecretStoreCheck) async throws {
        try await check.run(
            on: SecretStoreSubject(features: .complete) { _ in Self.patientAdapter }
        )
    }

    @Test("secret-tool reads what Keel writes")
    func toolReads() async throws {
        let bus = try #require(UnlockedKeyring.bus)
        let store = try SecretStore(Self.patientAdapter, service: "keel tool")
        try await store.save("s3cret \u{e9}", forKey: "alice/1")
        let lookup = ["lookup", "service", "keel tool", "account", "alice/1"]
        #expect(try await bus.run("secret-tool", lookup).text == "s3cret \u{e9}")
        try await store.delete(forKey: "alice/1")
        #expect(try await bus.run("secret-tool", lookup).status != 0)
    }

    @Test("Keel reads, replaces, lists and deletes what secret-tool writes")
    func toolWrites() async throws {
        let bus = try #require(UnlockedKeyring.bus)
        let names = ["service", "keel tool", "account", "bob"]
        let stored = try await bus.run(
            "secret-tool",
            ["store", "--label=Bob"] + names,
            input: "fr0m tool"
        )
        #expect(stored.status == 0)
        let store = try SecretStore(Self.patientAdapter, service: "keel tool")
        #expect(try await store.loadString(forKey: "bob") == "fr0m tool")
        #expect(try await store.list() == ["bob"])
        try await store.save("fr0m keel", forKey: "bob")
        #expect(try await bus.run("secret-tool", ["lookup"] + names).text == "fr0m keel")
        #expect(try await store.list() == ["bob"])
        try await store.delete(forKey: "bob")
        #expect(try await bus.run("secret-tool", ["lookup"] + names).status != 0)
    }

    /// The Python interpreter with PyPI's SecretStorage.
    private static let python = ProcessInfo.processInfo.environment["KEEL_PYTHON"]

    private func secretStorage(
        _ arguments: String...
    ) async throws -> (text: String, status: Int32) {
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Support/secret-storage-peer.py").path
        let bus = try #require(UnlockedKeyring.bus)
        return try await bus.run(try #require(Self.python), [script] + arguments)
    }

    @Test(
        "PyPI's SecretStorage reads what Keel writes, and vice versa",
        .enabled(if: Self.python != nil, "SKIPPED: KEEL_PYTHON names no Python with SecretStorage")
    )
    func secretStorage() async throws {
        let store = try SecretStore(Self.patientAdapter, service: "keel python")
        try await store.save("s3cret \u{e9}", forKey: "alice")
        let read = try await secretStorage("get", "keel python", "alice")
        #expect(read.text == "s3cret \u{e9}" && read.status == 0)
        #expect(try await secretStorage("set", "keel python", "bob", "fr0m python").status == 0)
        #expect(try await store.loadString(forKey: "bob") == "fr0m python")
        #expect(try await store.list() == ["alice", "bob"])
        try await store.save("fr0m keel", forKey: "bob")
        #expect(try await secretStorage("get", "keel python", "bob").text == "fr0m keel")
        for key in ["alice", "bob"] { try await store.delete(forKey: key) }
        #expect(try await secretStorage("get", "keel python", "bob").status != 0)
    }

    @Test("An expired deadline is a timeout")
    func deadline() async throws {
        let adapter = SecretServiceSecretStoreAdapter(deadline: .zero)
        await #expect {
            _ = try await adapter.read(SecretName(service: "a", account: "b"))
        } throws: { error in
            (error as? SecretError)?.code == .timeout
        }
    }

    @Test("The adapter declares persistence, and comparison only within this process")
    func capabilities() async {
        let capabilities = await SecretServiceSecretStoreAdapter().capabilities()
        #expect(capabilities.kind == .secretService)
        #expect(capabilities.features == [.writable, .persistent])
    }
}
#endif
