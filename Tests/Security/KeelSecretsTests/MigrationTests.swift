import Foundation
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelSecrets

@Suite("Moving secrets to another store")
struct MigrationTests {
    private let source: SecretStore
    private let destination: SecretStore

    init() throws {
        source = try SecretStore(InMemorySecretStoreAdapter(), service: "old")
        destination = try SecretStore(InMemorySecretStoreAdapter(), service: "new")
    }

    @Test("Everything is copied and then deleted at the source")
    func moves() async throws {
        for key in ["A", "B", "C"] { try await source.save(key + key, forKey: key) }
        let report = try await source.migrate(to: destination)
        #expect(report.moved == ["A", "B", "C"])
        #expect(report.alreadyPresent.isEmpty && report.conflicting.isEmpty)
        #expect(try await source.list().isEmpty)
        #expect(try await destination.list() == ["A", "B", "C"])
        #expect(try await destination.loadString(forKey: "B") == "BB")
    }

    @Test("Equal secrets are reported as present, and different ones as conflicts")
    func present() async throws {
        for key in ["A", "B"] { try await source.save("1", forKey: key) }
        try await destination.save("1", forKey: "A")
        try await destination.save("2", forKey: "B")
        let report = try await source.migrate(to: destination)
        #expect(report.alreadyPresent == ["A"])
        #expect(report.conflicting == ["B"])
        #expect(try await source.list() == ["B"])
        #expect(try await destination.loadString(forKey: "B") == "2")
    }

    @Test("A read-only destination leaves everything in place")
    func readOnly() async throws {
        try await source.save("1", forKey: "A")
        let variables = try EnvironmentSecretStoreAdapter(
            service: "new",
            prefix: "T_",
            variables: [:]
        )
        let refusing = try SecretStore(variables, service: "new")
        await #expect {
            _ = try await source.migrate(to: refusing)
        } throws: { error in
            (error as? SecretError)?.code == .readOnly
        }
        #expect(try await source.loadString(forKey: "A") == "1")
    }

    /// A store that keeps only the first half of each secret.
    private struct Forgetful: ForwardingSecretStoreAdapter {
        let upstream = InMemorySecretStoreAdapter()

        func replace(
            _ name: SecretName,
            with bytes: [UInt8]?,
            expecting expectation: SecretExpectation
        ) async throws(SecretError) -> Bool {
            let half = bytes.map { Array($0.prefix($0.count / 2)) }
            return try await upstream.replace(name, with: half, expecting: expectation)
        }
    }

    @Test("An incomplete copy ends the migration, and nothing is deleted")
    func verifies() async throws {
        try await source.save("1234", forKey: "A")
        let forgetful = try SecretStore(Forgetful(), service: "new")
        await #expect {
            _ = try await source.migrate(to: forgetful)
        } throws: { error in
            (error as? SecretError)?.code == .saveFailed
        }
        #expect(try await source.loadString(forKey: "A") == "1234")
    }

    /// A store in which another process changes or deletes a secret just before a migration deletes it.
    private struct Shared: ForwardingSecretStoreAdapter {
        let upstream = InMemorySecretStoreAdapter()
        let next: String?

        func replace(
            _ name: SecretName,
            with bytes: [UInt8]?,
            expecting expectation: SecretExpectation
        ) async throws(SecretError) -> Bool {
            if case .bytes = expectation {
                let later = next.map { Array($0.utf8) }
                _ = try await upstream.replace(name, with: later, expecting: .anything)
            }
            return try await upstream.replace(name, with: bytes, expecting: expectation)
        }
    }

    @Test(
        "A secret that is changed or deleted while it is copied leaves no old copy",
        arguments: ["2", nil]
    )
    func changedMeanwhile(next: String?) async throws {
        let shared = try SecretStore(Shared(next: next), service: "old")
        try await shared.save("1", forKey: "A")
        #expect(try await shared.migrate(to: destination).conflicting == ["A"])
        #expect(try await destination.list().isEmpty)
        let report = try await shared.migrate(to: destination)
        #expect(report.conflicting.isEmpty)
        let moved = next.map { Data($0.utf8) }
        #expect(try await destination.loadIfPresent(forKey: "A") == moved)
    }

    @Test("Secrets cannot be moved to the same service, but to another one in the same store")
    func itself() async throws {
        let adapter = InMemorySecretStoreAdapter()
        let first = try SecretStore(adapter, service: "one")
        try await first.save("1", forKey: "A")
        await #expect {
            _ = try await first.migrate(to: SecretStore(adapter, service: "one"))
        } throws: { error in
            (error as? SecretError)?.code == .invalidArgument
        }
        #expect(try await first.list() == ["A"])
        let second = try SecretStore(adapter, service: "two")
        #expect(try await first.migrate(to: second).moved == ["A"])
        #expect(try await second.list() == ["A"])
    }

    @Test("A migration removes old markers of interrupted migrations and never moves markers")
    func leftMarks() async throws {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        try await source.save("1", forKey: "A")
        for store in [source, destination] {
            try await store.save("1799996400", forKey: "keel-migration-old")
            try await store.save("no time", forKey: "keel-migration-unreadable")
            try await store.save("1799999999", forKey: "keel-migration-young")
        }
        let report = try await source.migrate(to: destination, now: now)
        #expect(
            report.moved == ["A"] && report.alreadyPresent.isEmpty && report.conflicting.isEmpty
        )
        // Another program may still need the young marks.
        #expect(try await source.list() == ["keel-migration-young"])
        #expect(try await destination.list() == ["A", "keel-migration-young"])
    }

    #if Crypto
    @Test("A failed migration to a file can be repeated")
    func repeated() async throws {
        let folder = try TemporaryFolder()
        let adapter = EncryptedFileSecretStoreAdapter(
            folder: folder.path + "/store",
            key: .source(FixedKeySource())
        )
        let file = try SecretStore(adapter, service: "new")
        for key in ["A", "B"] { try await source.save(key, forKey: key) }
        // The state after a crash between copying and deleting.
        try await file.save("A", forKey: "A")
        let report = try await source.migrate(to: file)
        #expect(report.alreadyPresent == ["A"] && report.moved == ["B"])
        #expect(try await file.list() == ["A", "B"])
    }
    #endif
}
