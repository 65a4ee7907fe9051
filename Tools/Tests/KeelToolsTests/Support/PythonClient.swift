import Dispatch
import Foundation
import Testing

/// A client of Google's in Python, run by the interpreter that `KEEL_PYTHON` names.
enum PythonClient {
    static let interpreter = ProcessInfo.processInfo.environment["KEEL_PYTHON"]

    static let isPresent = interpreter != nil

    /// Why the tests with it do not run.
    static let absence: Comment = """
        SKIPPED: KEEL_PYTHON names no Python with the package 'google-cloud-firestore'; \
        see Scripts/setup.sh
        """

    /// Runs a script of this folder to its end.
    ///
    /// - Parameters:
    ///   - script: The file's name.
    ///   - arguments: What the script is told.
    /// - Returns: Its exit code, and all that it has printed.
    /// - Throws: If it cannot be started.
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
        // Nothing here may block a thread: the tests have only as many as there are processors.
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
