#if os(Linux) || os(macOS)
package import Foundation

/// A program that a test has run to its end.
package struct ProgramRun: Sendable {
    package let exitCode: Int32
    package let output: [UInt8]
    package let errors: String

    package var text: String { String(decoding: output, as: UTF8.self) }

    /// Runs a program without blocking a thread: the tests have only one per processor.
    package init(
        _ program: URL,
        _ arguments: [String],
        input: [UInt8] = [],
        environment: [String: String]? = nil
    ) async throws {
        // Files, because a process started concurrently would inherit the end of a pipe.
        let folder = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["in", "out", "errors"].map { folder.appending(path: $0) }
        for (file, bytes) in zip(files, [input, [], []]) { try Data(bytes).write(to: file) }
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        if let environment { process.environment = environment }
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        exitCode = try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Int32, any Error>) in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                continuation.resume(throwing: error)
            }
        }
        output = Array(try Data(contentsOf: files[1]))
        errors = String(decoding: try Data(contentsOf: files[2]), as: UTF8.self)
    }
}
#endif
