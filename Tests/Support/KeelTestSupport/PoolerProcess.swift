#if os(Linux) || os(macOS)
internal import Foundation

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// pgbouncer on a free port of 127.0.0.1, in front of a PostgreSQL server that trusts the role `keel`.
///
/// It ends with the process of the tests, however that ends.
package final class PoolerProcess: Sendable {
    /// How long a client keeps a connection to the server.
    package enum Mode: String, CaseIterable, Sendable {
        case session
        case transaction
    }

    /// An error for a machine without pgbouncer.
    package struct Missing: Error, CustomStringConvertible {
        package let description = "pgbouncer is missing: run Scripts/setup.sh test"
    }

    private static let programs = [
        "/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/opt/homebrew/bin/pgbouncer",
        "/usr/local/bin/pgbouncer",
    ]

    package let port: Int
    private let process: PeerProcess

    /// Starts pgbouncer and waits until it listens.
    ///
    /// - Parameters:
    ///   - mode: How long a client keeps a connection to the server.
    ///   - server: The port of the server.
    /// - Throws: ``Missing``, or the error of starting the process.
    package init(_ mode: Mode, before server: Int) async throws {
        guard
            let program = Self.programs.first(
                where: { FileManager.default.isExecutableFile(atPath: $0) }
            )
        else { throw Missing() }
        let port = try PeerProcess.freePort()
        self.port = port
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "keel-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "pgbouncer.ini")
        let configuration = """
            [databases]
            * = host=127.0.0.1 port=\(server) user=keel
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = any
            pool_mode = \(mode.rawValue)
            max_client_conn = 500
            default_pool_size = 40
            """
        try Data(configuration.utf8).write(to: file)
        // pgbouncer refuses to run as root.
        let user = getuid() == 0 ? ["-u", "nobody"] : []
        // The signals that a thread of Swift's blocks stay blocked in its processes, except SIGKILL.
        let loop = """
            tests=$1; shift; "$@" & while kill -0 $tests && kill -0 $!; do sleep 0.2; done 2>/dev/null
            kill -KILL $! 2>/dev/null
            """
        process = try await PeerProcess(
            "/bin/sh",
            ["-c", loop, "sh", "\(getpid())", program, "-q"] + user + [file.path],
            port: port
        )
    }

    /// The URL of the database whose role may do everything.
    package var url: String { "postgres://keel@127.0.0.1:\(port)/postgres" }
}
#endif
