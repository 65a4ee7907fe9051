import Dispatch
import Foundation
import Testing

/// Other implementations, called by the Python interpreter that `KEEL_PYTHON` names.
enum Peer {
    static let interpreter = ProcessInfo.processInfo.environment["KEEL_PYTHON"]

    static let isPresent = interpreter != nil

    /// Why the tests with it do not run.
    static let absence: Comment = """
        SKIPPED: KEEL_PYTHON names no Python with tink, argon2-cffi and cryptography; \
        see Scripts/setup.sh
        """

    /// Lets the script do a list of tasks.
    ///
    /// - Parameter tasks: The tasks, each with its `do` and its arguments.
    /// - Returns: An answer for each: `ok` with a text, or `error` with a reason.
    /// - Throws: If the script could not be run, or did not end well.
    static func run(_ tasks: [[String: String]]) async throws -> [[String: String]] {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("keel-security-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let input = folder.appendingPathComponent("tasks")
        let output = folder.appendingPathComponent("answers")
        try JSONEncoder().encode(tasks).write(to: input)
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "security-peer.py")
        let process = Process()
        process.executableURL = URL(filePath: try #require(interpreter))
        process.arguments = [script.path, input.path, output.path]
        process.standardInput = FileHandle.nullDevice
        // Nothing here may block a thread: the tests have as many as there are processors.
        let (ended, ending) = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in ending.finish() }
        try process.run()
        for await _ in ended {}
        try #require(process.terminationStatus == 0, "the script failed; its message stands above")
        let answers = try JSONDecoder().decode(
            [[String: String]].self,
            from: Data(contentsOf: output)
        )
        try #require(answers.count == tasks.count)
        return answers
    }
}

extension [String: String] {
    /// The bytes of an answer, if there are some.
    var bytes: Data? { self["ok"].flatMap { Data(base64Encoded: $0) } }
}
