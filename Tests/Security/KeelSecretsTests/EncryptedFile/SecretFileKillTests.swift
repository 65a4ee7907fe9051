#if Crypto && (os(Linux) || os(macOS))
import Foundation
import KeelSecrets
import KeelTestSupport
import Testing

@Suite("Encrypted secret files and other processes", .serialized)
struct SecretFileKillTests {
    private func store(_ folder: TemporaryFolder) throws -> SecretStore {
        let key = SecretFileKey.source(KeyFileSource(path: folder.path + "/key"))
        let adapter = EncryptedFileSecretStoreAdapter(folder: folder.path + "/store", key: key)
        return try SecretStore(adapter, service: "test")
    }

    /// The number of trials, which `KEEL_KILLS` overrides.
    private static let trials = TestLength.count("KEEL_KILLS", 24, thorough: 96)

    @Test("A killed process leaves what it had saved")
    func kill() async throws {
        var folder = try TemporaryFolder()
        for trial in 0..<Self.trials {
            // In a long run, start over before the file is so large that writing it takes all the time.
            if trial > 0, trial.isMultiple(of: 24) { folder = try TemporaryFolder() }
            let prefix = "T\(trial)"
            let printed: [Int]? = try await CrashTrial.run(
                "KeelSecretWriter",
                ["write", folder.path, prefix, "1000000"],
                killedAfter: .microseconds(trial % 24 * 1_713),
                waitsForLife: trial % 4 != 3
            )
            let numbers = try #require(printed, "the program ended by itself")
            let store = try store(folder)
            let value = try await store.loadIfPresent(forKey: prefix)
            let left = value.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
            if let last = numbers.last {
                let found = try #require(left, "the secret is gone")
                // The last secret may have been saved but not printed.
                #expect(found == last || found == last + 1)
                let keys = try await store.list().filter { $0.hasPrefix(prefix + "-") }
                #expect(keys.count >= last / 8 + 1)
            }
            // No lock outlives its process.
            try await store.save("mine", forKey: "parent")
        }
    }

    @Test("Two processes that save concurrently lose nothing")
    func twoProcesses() async throws {
        let folder = try TemporaryFolder()
        let processes = try ["A", "B"].map { prefix in
            let process = Process()
            process.executableURL = try CrashTrial.program("KeelSecretWriter")
            process.arguments = ["write", folder.path, prefix, "80"]
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            return process
        }
        // This process is the third writer.
        let store = try store(folder)
        for number in 10..<30 { try await store.save("x", forKey: "C\(number)") }
        for process in processes {
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
        let expected =
            ["A", "B"].flatMap { prefix in
                [prefix] + stride(from: 0, to: 80, by: 8).map { "\(prefix)-\($0)" }
            } + (10..<30).map { "C\($0)" }
        #expect(Set(try await store.list()) == Set(expected))
        #expect(try await store.loadString(forKey: "A") == "79")
        #expect(try await store.loadString(forKey: "B") == "79")
    }
}
#endif
