import Foundation
import KeelCore
import KeelSecurity

/// Compares Argon2id at the default cost, in release mode, with argon2-cffi and with the reference implementation's
/// program: each verifies the other's hashes, and refuses another password.
///
/// The tests compare small costs, because the default one takes seconds without optimization.
struct PasswordTrials {
    private var count = 200

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument == "--trials", let number = rest.popFirst().flatMap({ Int($0) }),
                number > 0
            else { throw Failure("passwords takes --trials N") }
            count = number
        }
    }

    /// Returns whether all results agreed.
    func run() async throws -> Bool {
        let hasher = PasswordHasher()
        var ours: [String] = []
        for number in 0..<count { ours.append(try await hasher.hash(password(number))) }
        let verified = try await peer("verify", ours.enumerated().map { [password($0), $1] })
        var flaws = verified.count { $0 != "True False" }
        print("argon2-cffi verified \(count) hashes of Keel's, \(flaws) not as it should")
        for maker in ["library", "program"] {
            let theirs = try await peer(maker, (0..<count).map { [password($0), "\($0)"] })
            var wrong = 0
            for (number, hash) in theirs.enumerated() {
                let isRight = try await hasher.verify(password(number), against: hash)
                let isRefused = try await !hasher.verify(password(number + 1), against: hash)
                if !isRight || !isRefused || hasher.needsRehash(hash) { wrong += 1 }
            }
            print("Keel verified \(theirs.count) hashes of the \(maker), \(wrong) not as it should")
            flaws += wrong + abs(count - theirs.count)
        }
        return flaws == 0
    }

    private func password(_ number: Int) -> String { "pass \(number) ü" }

    private func peer(_ what: String, _ pairs: [[String]]) async throws -> [String] {
        guard let python = ProcessInfo.processInfo.environment["KEEL_PYTHON"] else {
            throw Failure("KEEL_PYTHON names no Python with argon2-cffi; see Scripts/soak.sh")
        }
        let folder = FileManager.default.temporaryDirectory
        let file = folder.appending(path: "keel-passwords-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try JSONEncoder().encode(pairs).write(to: file)
        let cost = Argon2Cost()
        let process = Process()
        process.executableURL = URL(filePath: python)
        process.arguments =
            [script, what, file.path] + [cost.memory, cost.passes, cost.lanes].map { "\($0)" }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure("\(what) failed in Python") }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private var script: String {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "password-peer.py")
            .path
    }
}
