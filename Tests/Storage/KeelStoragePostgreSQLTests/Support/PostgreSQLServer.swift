#if PostgreSQL
import Foundation
import KeelCore
import KeelStorage
import KeelStoragePostgreSQL
import KeelTestSupport

/// A PostgreSQL server of the tests, on a free port of 127.0.0.1, with its data in a temporary folder.
///
/// It runs as an unprivileged user, as PostgreSQL demands, and ends with the process of the tests, however that ends.
final class PostgreSQLServer: Sendable {
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// The server that most tests share.
    static let shared = Task { try await PostgreSQLServer() }

    /// The roles: the first may do everything, the second needs a password.
    static let role = "keel"
    static let cautiousRole = "cautious"
    static let password = "p%ss:w@rd"

    let port: Int
    private let process: Process
    private let input = Pipe()

    private static let programs = [
        "/usr/lib/postgresql/15/bin", "/usr/lib/postgresql/16/bin", "/usr/lib/postgresql/17/bin",
        "/usr/lib/postgresql/18/bin", "/usr/pgsql-17/bin", "/usr/bin", "/usr/local/bin",
        "/opt/homebrew/opt/postgresql@17/bin", "/usr/local/opt/postgresql@17/bin",
    ]

    /// Starts a server and waits until it accepts connections.
    init(options: [String] = []) async throws {
        guard
            let programs = Self.programs.first(where: {
                FileManager.default.isExecutableFile(atPath: "\($0)/initdb")
            })
        else {
            throw Missing(
                description:
                    "PostgreSQL is not installed (initdb, postgres): run Scripts/setup.sh test"
            )
        }
        port = try PeerProcess.freePort()
        // Not in the test's own folder, which an unprivileged user may not enter.
        let folder = "/tmp/keel-postgresql-\(UUID().uuidString)"
        process = Process()
        // The server ends when the pipe does, and with it the process of the tests.
        let script = """
            set -e
            mkdir -m 700 "$folder"
            trap 'rm -rf "$folder"' EXIT
            "$programs/initdb" -D "$folder/data" -U \(Self.role) -A trust -E UTF8 --locale=C --no-sync >"$folder/log" 2>&1
            printf '%s\\n' 'host all \(Self.cautiousRole) 127.0.0.1/32 scram-sha-256' 'host all all 127.0.0.1/32 trust' \
                'host replication all 127.0.0.1/32 trust' >"$folder/data/pg_hba.conf"
            "$programs/postgres" -D "$folder/data" "$@" >>"$folder/log" 2>&1 &
            server=$!
            cat >/dev/null
            kill -QUIT "$server"
            wait "$server" || true
            """
        let settings = [
            "listen_addresses=127.0.0.1", "port=\(port)", "unix_socket_directories=", "fsync=off",
            "max_connections=200", "password_encryption=scram-sha-256",
        ]
        let shell =
            ["/bin/sh", "-c", script, "sh"] + (settings + options).flatMap { ["-c", $0] }
        if getuid() == 0 {
            process.executableURL = URL(filePath: "/usr/bin/setpriv")
            process.arguments = ["--reuid=nobody", "--regid=nogroup", "--clear-groups"] + shell
        } else {
            process.executableURL = URL(filePath: shell[0])
            process.arguments = Array(shell.dropFirst())
        }
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("PG") }
        environment["folder"] = folder
        environment["programs"] = programs
        process.environment = environment
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.currentDirectoryURL = URL(filePath: "/tmp")
        try process.run()
        while await !acceptsConnections(programs) {
            guard process.isRunning else {
                throw Missing(description: "PostgreSQL did not start; its log was in \(folder)/log")
            }
            // A server does not say when it is ready.
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    deinit { stop() }

    /// Ends the server at once, as a crash does, and removes its data.
    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    private func acceptsConnections(_ programs: String) async -> Bool {
        let ready = Process()
        ready.executableURL = URL(filePath: "\(programs)/pg_isready")
        ready.arguments = ["-q", "-h", "127.0.0.1", "-p", "\(port)"]
        guard (try? ready.run()) != nil else { return false }
        ready.waitUntilExit()
        return ready.terminationStatus == 0
    }

    static func freePort() async throws -> Int { try PeerProcess.freePort() }

    /// Returns the URL of the database.
    func url(_ role: String = role, database: String = "postgres", _ parameters: String = "")
        -> String
    {
        "postgres://\(role)@127.0.0.1:\(port)/\(database)\(parameters)"
    }

    /// Limits the connections of tests that run at the same time.
    private static let stores = TaskQueue(admitting: 8)

    /// Runs a closure with an adapter of a store of its own.
    @discardableResult
    static func withStore<Value>(
        _ configure: (inout PostgreSQLStorageAdapter.Configuration) -> Void = { _ in },
        _ body: (PostgreSQLStorageAdapter) async throws -> Value
    ) async throws -> Value {
        let server = try await shared.value
        guard await stores.enter() else { throw CancellationError() }
        defer { stores.leave() }
        var configuration = PostgreSQLStorageAdapter.Configuration()
        configuration.store = UUID().uuidString
        configure(&configuration)
        let adapter = try await PostgreSQLStorageAdapter(
            at: .url(server.url()),
            configuration: configuration
        )
        do {
            let value = try await body(adapter)
            await adapter.close()
            return value
        } catch {
            await adapter.close()
            throw error
        }
    }
}
#endif
