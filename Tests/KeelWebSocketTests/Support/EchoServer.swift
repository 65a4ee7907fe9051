#if WebSocket
import Foundation
import Testing

/// The echo server on PyPI's `websockets`, run by the interpreter that `KEEL_PYTHON` names.
enum EchoServer {
    static let interpreter = ProcessInfo.processInfo.environment["KEEL_PYTHON"]

    static let isPresent = interpreter != nil

    /// Why the tests with it do not run.
    static let absence: Comment =
        "SKIPPED: KEEL_PYTHON names no Python with the package 'websockets'; see Scripts/setup.sh"

    /// Runs a server for as long as `body` runs.
    static func run<Value: Sendable>(
        _ options: [String] = [],
        while body: @Sendable (_ port: Int) async throws -> Value
    ) async throws -> Value {
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "echo-server.py")
        let process = Process()
        process.executableURL = URL(filePath: try #require(interpreter))
        process.arguments = [script.path] + options
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        defer {
            // The end of its input tells the server to stop.
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
        }
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        let port = try #require(Int(line.trimmingCharacters(in: .whitespacesAndNewlines)))
        return try await body(port)
    }
}
#endif
