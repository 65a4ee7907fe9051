#if WebSocket
import Dispatch
import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The echo server of PyPI's `websockets`, run by the interpreter in `KEEL_PYTHON`.
enum EchoServer {
    static let interpreter = ProcessInfo.processInfo.environment["KEEL_PYTHON"]

    static let isPresent = interpreter != nil

    static let absence: Comment =
        "SKIPPED: KEEL_PYTHON names no Python with the package 'websockets'; see Scripts/setup.sh"

    /// Runs a server for the duration of `body`.
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
        // Nothing here may block a thread: the tests have only one per processor.
        let (ended, ending) = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in ending.finish() }
        let (lines, printing) = AsyncStream<Data>.makeStream()
        try process.run()
        let handle = output.fileHandleForReading
        DispatchQueue.global().async { printing.yield(handle.availableData) }
        let line = await lines.first { _ in true } ?? Data()
        let text = String(decoding: line, as: UTF8.self)
        let outcome: Result<Value, any Error>
        do {
            let port = try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
            outcome = .success(try await body(port))
        } catch {
            outcome = .failure(error)
        }
        // A process started from a pool's thread inherits its blocked signals, and only SIGKILL
        // gets through. If the tests die, the server stops at the end of its input.
        kill(process.processIdentifier, SIGKILL)
        for await _ in ended {}
        try? input.fileHandleForWriting.close()
        return try outcome.get()
    }
}
#endif
