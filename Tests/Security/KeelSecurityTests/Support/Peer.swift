import Foundation
import KeelTestSupport
import Testing

/// Other implementations, called through the Python interpreter in `KEEL_PYTHON`.
enum Peer {
    static let interpreter = ProcessInfo.processInfo.environment["KEEL_PYTHON"]

    static let isPresent = interpreter != nil

    /// The reason for skipping the tests that need it.
    static let absence: Comment = """
        SKIPPED: KEEL_PYTHON names no Python with tink, argon2-cffi and cryptography; \
        see Scripts/setup.sh
        """

    /// Runs a list of tasks in the script.
    ///
    /// - Parameter tasks: The tasks, each with its `do` and its arguments.
    /// - Returns: One answer per task: `ok` with a text, or `error` with a reason.
    /// - Throws: An error if the script could not be run or failed.
    static func run(_ tasks: [[String: String]]) async throws -> [[String: String]] {
        let folder = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let input = folder.appendingPathComponent("tasks")
        let output = folder.appendingPathComponent("answers")
        try JSONEncoder().encode(tasks).write(to: input)
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "security-peer.py")
        let run = try await ProgramRun(
            URL(filePath: try #require(interpreter)),
            [script.path, input.path, output.path]
        )
        try #require(run.exitCode == 0, "\(run.errors)")
        let answers = try JSONDecoder().decode(
            [[String: String]].self,
            from: Data(contentsOf: output)
        )
        try #require(answers.count == tasks.count)
        return answers
    }
}

extension [String: String] {
    /// The bytes of an answer, if any.
    var bytes: Data? { self["ok"].flatMap { Data(base64Encoded: $0) } }
}
