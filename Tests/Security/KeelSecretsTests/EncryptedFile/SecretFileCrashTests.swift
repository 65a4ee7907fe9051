#if Crypto
import KeelTestSupport
import Foundation
import KeelCore
import KeelSecrets
import KeelTestKit
import Testing

@Suite("Crash recovery of an encrypted secret file")
struct SecretFileCrashTests {
    private func store(_ files: SimulatedFileSystem) throws -> SecretStore {
        try SecretStore(
            EncryptedFileSecretStoreAdapter(
                folder: "/store",
                key: .source(KeyFileSource(path: "/keys/key", files: files)),
                files: files,
                lockMilliseconds: 0
            ),
            service: "test"
        )
    }

    /// The consecutive changes.
    private static let changes: [(key: String, value: String?)] = [
        ("A", "1"), ("B", "2"), ("A", "11"), ("C", String(repeating: "c", count: 700)),
        ("B", nil), ("A", "111"),
    ]

    /// Returns the states of the store after each change, with the number of preceding disk steps.
    private func history() async throws -> (
        files: SimulatedFileSystem, states: [[String: String]], steps: [Int]
    ) {
        let files = SimulatedFileSystem()
        let store = try store(files)
        var states: [[String: String]] = [[:]]
        var steps = [0]
        for change in Self.changes {
            var state = states[states.count - 1]
            state[change.key] = change.value
            if let value = change.value {
                try await store.save(value, forKey: change.key)
            } else {
                try await store.delete(forKey: change.key)
            }
            states.append(state)
            steps.append(files.steps.count)
        }
        return (files, states, steps)
    }

    private func contents(_ store: SecretStore) async throws -> [String: String] {
        var contents: [String: String] = [:]
        for key in try await store.list() {
            contents[key] = try await store.loadString(forKey: key)
        }
        return contents
    }

    @Test("A kill at any step or inside any write leaves the old or the new state")
    func kill() async throws {
        let (files, states, steps) = try await history()
        for count in 0...files.steps.count {
            for torn in [0, 1, 40] {
                let left = SimulatedFileSystem(files.disk(afterKillAt: count, torn: torn))
                let store = try store(left)
                let found = try await contents(store)
                // The last completed change, and the one in progress.
                let done = steps.lastIndex { $0 <= count } ?? 0
                let allowed = states[done...min(done + 1, states.count - 1)]
                #expect(allowed.contains(found), "after \(count) steps")
                try await store.save("after", forKey: "Z")
                #expect(try await contents(store).count == found.count + 1)
            }
        }
    }

    @Test("A power failure at any step leaves the last completed change or the one in progress")
    func powerFailure() async throws {
        let (files, states, steps) = try await history()
        var random = SeededRandom(seed: 7)
        for count in 0...files.steps.count {
            for _ in 0..<12 {
                let disk = files.disk(afterPowerFailureAt: count, using: &random)
                let store = try store(SimulatedFileSystem(disk))
                let found = try await contents(store)
                let done = steps.lastIndex { $0 <= count } ?? 0
                let allowed = states[done...min(done + 1, states.count - 1)]
                #expect(allowed.contains(found), "after \(count) steps")
            }
        }
    }

    @Test("A full disk refuses a change and keeps the old state")
    func fullDisk() async throws {
        let files = SimulatedFileSystem()
        let store = try store(files)
        try await store.save("1", forKey: "A")
        for capacity in stride(from: files.disk.byteCount, to: files.disk.byteCount + 120, by: 7) {
            files.limit(to: capacity)
            await #expect {
                try await store.save(Data(count: 500), forKey: "A")
            } throws: { error in
                (error as? SecretError)?.code == .diskFull
            }
            #expect(try await store.loadString(forKey: "A") == "1")
        }
        files.limit(to: nil)
        try await store.save("2", forKey: "A")
        #expect(try await store.loadString(forKey: "A") == "2")
    }

    @Test(
        "A failed file system call leaves the old or the new state",
        arguments: ["create", "write", "sync", "rename", "remove", "syncFolder", "lock"]
    )
    func failingCall(_ call: String) async throws {
        let files = SimulatedFileSystem()
        let store = try store(files)
        try await store.save("1", forKey: "A")
        files.fail { failing in
            "\(failing)".hasPrefix(call + "(") ? FileSystemError.inputOutput : nil
        }
        await #expect(throws: SecretError.self) { try await store.save("2", forKey: "A") }
        files.fail(nil)
        let left = try await store.loadString(forKey: "A")
        #expect(left == (call == "syncFolder" ? "2" : "1"))
        try await store.save("3", forKey: "A")
        #expect(try await store.loadString(forKey: "A") == "3")
    }

    @Test("A change repeated after a failed synchronization survives a power failure")
    func repeatedChange() async throws {
        let files = SimulatedFileSystem()
        let store = try store(files)
        try await store.save("1", forKey: "A")
        files.fail { failing in
            "\(failing)".hasPrefix("syncFolder(") ? FileSystemError.inputOutput : nil
        }
        await #expect(throws: SecretError.self) { try await store.save("2", forKey: "A") }
        files.fail(nil)
        try await store.save("2", forKey: "A")
        var random = SeededRandom(seed: 7)
        for _ in 0..<12 {
            let disk = files.disk(afterPowerFailureAt: files.steps.count, using: &random)
            let left = try self.store(SimulatedFileSystem(disk))
            #expect(try await left.loadString(forKey: "A") == "2")
        }
    }

    @Test("A lock held by another process causes a timeout and changes nothing")
    func lock() async throws {
        let files = SimulatedFileSystem()
        let store = try store(files)
        try await store.save("1", forKey: "A")
        let lock = try files.lock("/store/secrets.lock")
        await #expect {
            try await store.save("2", forKey: "A")
        } throws: { error in
            (error as? SecretError)?.code == .timeout
        }
        withExtendedLifetime(lock) {}
        #expect(try await store.loadString(forKey: "A") == "1")
    }
}
#endif
