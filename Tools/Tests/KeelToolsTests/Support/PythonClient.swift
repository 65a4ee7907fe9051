import Dispatch
import Foundation
import Testing

/// A client of Google's in Python, run by the interpreter that `KEEL_PYTHON` names.
enum PythonClient {
    static let interpreter = ProcessInfo.processInfo.environment["KEEL_PYTHON"]

    static let isPresent = interpreter != nil

    /// The reason why the tests with the client do not run.
    static let absence: Comment = """
        SKIPPED: KEEL_PYTHON names no Python with the package 'google-cloud-firestore'; \
        see Scripts/setup.sh
        """

    /// Runs a script in this folder to its end.
    ///
    /// - Parameters:
    ///   - script: The file's name.
    ///   - arguments: The script's arguments.
    /// - Returns: The exit code and the output.
    /// - Throws: An error if the script cannot be started.
    static func run(
        _ script: String,
        _ arguments: [String]
    ) async throws -> (exitCode: Int32, lines: [String]) {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let process = Process()
        process.executableURL = URL(filePath: try #require(interpreter))
        process.arguments = [folder.appending(path: script).path] + arguments
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        // No thread may be blocked here, because the tests have only as many threads as processors.
        let (ended, ending) = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in ending.finish() }
        try process.run()
        let handle = output.fileHandleForReading
        let (texts, reading) = AsyncStream<Data>.makeStream()
        DispatchQueue.global().async {
            reading.yield(handle.readDataToEndOfFile())
            reading.finish()
        }
        let text = await texts.first { _ in true } ?? Data()
        for await _ in ended {}
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
        return (process.terminationStatus, lines)
    }
}
