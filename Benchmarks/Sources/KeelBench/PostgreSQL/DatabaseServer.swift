import Foundation

/// A PostgreSQL server of the benchmarks, on a free port of 127.0.0.1, which ends with this value or the process.
///
/// Its data is in `/tmp`, or in the folder that `KEEL_DATABASE_FOLDER` names: see `Scripts/postgresql.sh`.
final class DatabaseServer: Sendable {
    /// The settings, for both sides; the others are PostgreSQL's defaults.
    ///
    /// Every commit waits for the disk. Checkpoints are rare, so that none falls into the rounds of one side only.
    static let settings = [
        "fsync=on", "synchronous_commit=on", "shared_buffers=1GB", "max_wal_size=16GB",
        "checkpoint_timeout=1h",
    ]

    private let port: Int
    private let process: Process
    private let input = Pipe()

    @concurrent
    init() async throws {
        var root = URL(filePath: #filePath)
        for _ in 0..<5 { root.deleteLastPathComponent() }
        let (output, errors) = (Pipe(), Pipe())
        process = Process()
        process.executableURL = root.appending(path: "Scripts/postgresql.sh")
        process.arguments = Self.settings
        process.standardInput = input
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            let message = errors.fileHandleForReading.readDataToEndOfFile()
            throw NotRun(
                String(decoding: message, as: UTF8.self)
                    .trimmingCharacters(in: .whitespacesAndNewlines)
            )
        }
        self.port = port
    }

    deinit {
        // The server ends with its input.
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    func url(of database: String) -> String { "postgres://keel@127.0.0.1:\(port)/\(database)" }
}
