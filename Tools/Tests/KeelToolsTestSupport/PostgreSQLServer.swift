#if os(Linux) || os(macOS)
package import Foundation

/// A PostgreSQL server of the tests, on a free port of 127.0.0.1: see `Scripts/postgresql.sh`.
///
/// It ends with the process of the tests, however that ends.
package final class PostgreSQLServer: Sendable {
    /// The server that the tests share; each has databases of its own.
    package static let shared = Result { try PostgreSQLServer() }

    package let port: Int
    private let input = Pipe()
    private let process = Process()

    /// Starts a server and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - primary: The server that the new one copies and follows; nil for a primary of its own.
    ///   - certificates: A folder with certificates and keys, which `ssl_cert_file` and `ssl_key_file` name.
    ///   - options: The settings of the server, as `name=value`.
    /// - Throws: An error if the server does not start.
    package init(
        standbyOf primary: PostgreSQLServer? = nil,
        certificates: URL? = nil,
        options: [String] = []
    ) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        process.executableURL =
            folder.appending(path: "../../../Scripts/postgresql.sh").standardizedFileURL
        process.arguments =
            (certificates.map { ["--certificates", $0.path] } ?? [])
            + (primary.map { ["--standby-of", "\($0.port)"] } ?? []) + options
        process.standardInput = input
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw CocoaError(.executableLoad)
        }
        self.port = port
    }

    /// Ends the server at once, as a crash does, and removes its data.
    package func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Creates an empty database and returns its URL for a role, which may contain a password.
    package func database(role: String = "keel") throws -> String {
        let name = "d" + UUID().uuidString.lowercased().filter { $0 != "-" }
        try run("CREATE DATABASE \(name)")
        return url(name, role: role)
    }

    /// Returns the URL of a database for a role, which may contain a password.
    package func url(_ database: String, role: String = "keel") -> String {
        "postgres://\(role)@127.0.0.1:\(port)/\(database)"
    }

    /// Ends all connections to a database.
    package func disconnect(from database: String) throws {
        let name = database.split(separator: "/").last ?? ""
        try run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
    }

    /// Runs a statement as the role that may do everything.
    package func run(_ statement: String, in database: String = "postgres") throws {
        let client = Process()
        client.executableURL = URL(filePath: "/usr/bin/env")
        client.arguments = [
            "psql", "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--command", statement,
            url(database),
        ]
        client.standardInput = FileHandle.nullDevice
        client.standardOutput = FileHandle.nullDevice
        try client.run()
        client.waitUntilExit()
        guard client.terminationStatus == 0 else { throw CocoaError(.executableRuntimeMismatch) }
    }
}
#endif
