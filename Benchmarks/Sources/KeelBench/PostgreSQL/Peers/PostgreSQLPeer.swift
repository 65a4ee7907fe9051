import Foundation

/// The program `postgresql-peer.c`, compiled with the system's C compiler on first use.
final class PostgreSQLPeer: Sendable {
    private let folder: WorkFolder

    @concurrent
    init(_ options: Options) async throws {
        folder = try WorkFolder("postgresql", in: options.folder)
        let source = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "postgresql-peer.c").path
        guard try await ProgramRun("cc", ["--version"]).status == 0 else {
            throw NotRun("there is no C compiler of the name cc")
        }
        let run = try await ProgramRun(
            "cc",
            [
                "-std=gnu11", "-O2", "-o", folder.path("postgresql-peer"), source,
                "-I\(try await Self.configuration("--includedir"))",
                "-L\(try await Self.configuration("--libdir"))", "-lpq", "-pthread",
            ]
        )
        guard run.status == 0 else { throw NotRun("cc: \(run.lastLine)") }
    }

    private static func configuration(_ option: String) async throws -> String {
        let run = try await ProgramRun("pg_config", [option])
        guard run.status == 0 else { throw NotRun("pg_config is missing (Debian: libpq-dev)") }
        return run.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Runs a command of the program on a database, and returns its figure.
    @concurrent
    @discardableResult
    func run(_ url: String, _ arguments: [String]) async throws -> Double {
        try await ProgramRun(folder.path("postgresql-peer"), [url] + arguments).number()
    }
}
