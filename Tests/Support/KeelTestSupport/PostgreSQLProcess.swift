#if os(Linux) || os(macOS)
internal import Foundation

/// A PostgreSQL server of its own, on a free port of 127.0.0.1: see `Scripts/postgresql.sh`.
///
/// It ends with the process of the tests, however that ends.
package final class PostgreSQLProcess: Sendable {
    /// An error for a server that does not start; the script has said why.
    package struct NotStarted: Error {}

    package let port: Int
    private let process = Process()
    private let input = Pipe()

    /// Starts a server with these arguments and waits until it accepts connections.
    ///
    /// - Throws: ``NotStarted``, or the error of starting the process.
    package init(_ arguments: [String] = []) throws {
        process.executableURL =
            URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Scripts/postgresql.sh").standardizedFileURL
        process.arguments = arguments
        // The server ends when the pipe does, and with it the process of the tests.
        process.standardInput = input
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw NotStarted()
        }
        self.port = port
    }

    /// The URL of a database whose role may do everything.
    package var url: String { "postgres://keel@127.0.0.1:\(port)/postgres" }

    deinit { stop() }

    /// Ends the server at once, as a crash does, and removes its data.
    package func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
#endif
