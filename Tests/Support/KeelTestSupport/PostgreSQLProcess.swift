#if os(Linux) || os(macOS)
internal import Foundation

/// A PostgreSQL server of its own, on a free port of 127.0.0.1: see `Scripts/postgresql.sh`.
///
/// It ends with the process of the tests, however that ends.
package final class PostgreSQLProcess: Sendable {
    /// An error for a server that does not start; the script has said why.
    package struct NotStarted: Error {}

    package let port: Int
    private let script: Script

    /// Starts a server with these arguments and waits until it accepts connections.
    ///
    /// - Throws: ``NotStarted``, or the error of starting the process.
    package convenience init(_ arguments: [String] = []) throws {
        let script = try Script(arguments)
        try self.init(script, port: script.readPort())
    }

    /// Starts a server like ``init(_:)``, but blocks no thread of the tasks: the tests have only one per processor.
    package static func started(_ arguments: [String] = []) async throws -> PostgreSQLProcess {
        let script = try Script(arguments)
        let port = await withCheckedContinuation {
            (continuation: CheckedContinuation<Int?, Never>) in
            Thread.detachNewThread { continuation.resume(returning: script.readPort()) }
        }
        return try PostgreSQLProcess(script, port: port)
    }

    private init(_ script: Script, port: Int?) throws {
        guard let port else { throw NotStarted() }
        (self.script, self.port) = (script, port)
    }

    /// The script that runs the server.
    private struct Script: Sendable {
        let process = Process()
        let input = Pipe()
        private let output = Pipe()

        init(_ arguments: [String]) throws {
            process.executableURL =
                URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../../Scripts/postgresql.sh").standardizedFileURL
            process.arguments = arguments
            // The server ends when the pipe does, and with it the process of the tests.
            process.standardInput = input
            process.standardOutput = output
            try process.run()
        }

        /// Waits until the server accepts connections, and returns its port; nil if it does not start.
        func readPort() -> Int? {
            let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            return Int(line.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }

    /// The URL of a database whose role may do everything.
    package var url: String { "postgres://keel@127.0.0.1:\(port)/postgres" }

    deinit { stop() }

    /// Ends the server at once, as a crash does, and removes its data.
    package func stop() {
        try? script.input.fileHandleForWriting.close()
        script.process.waitUntilExit()
    }
}
#endif
