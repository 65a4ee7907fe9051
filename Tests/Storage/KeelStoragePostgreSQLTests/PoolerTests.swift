#if PostgreSQL
import Foundation
import KeelConformance
import KeelStorage
import KeelStorageAdapting
import KeelStoragePostgreSQL
import KeelTestSupport
import Testing

/// pgbouncer on a free port of 127.0.0.1, in front of the server that most tests share.
struct Pooler {
    static let program = [
        "/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/opt/homebrew/bin/pgbouncer",
        "/usr/local/bin/pgbouncer",
    ].first { FileManager.default.isExecutableFile(atPath: $0) }

    static let session = Task { try await Pooler("session") }
    static let transaction = Task { try await Pooler("transaction") }

    let port: Int
    private let process: PeerProcess

    init(_ mode: String) async throws {
        let server = try await PostgreSQLServer.shared.value
        port = try PeerProcess.freePort()
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
            * = host=127.0.0.1 port=\(server.port) user=\(PostgreSQLServer.role)
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = any
            pool_mode = \(mode)
            max_client_conn = 500
            default_pool_size = 40
            """
        try Data(configuration.utf8).write(to: file)
        let program = try #require(
            Self.program,
            "pgbouncer is missing: run Scripts/setup.sh test"
        )
        // pgbouncer refuses to run as root. It ends with the process of the tests, however that ends.
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

    /// Runs a closure with an adapter of a store of its own.
    func withStore(
        _ configure: (inout PostgreSQLStorageAdapter.Configuration) -> Void = { _ in },
        _ body: (PostgreSQLStorageAdapter) async throws -> Void
    ) async throws {
        var configuration = PostgreSQLStorageAdapter.Configuration()
        configuration.store = UUID().uuidString
        configure(&configuration)
        let adapter = try await PostgreSQLStorageAdapter(
            at: .url("postgres://keel@127.0.0.1:\(port)/postgres"),
            configuration: configuration
        )
        do { try await body(adapter) } catch {
            await adapter.close()
            throw error
        }
        await adapter.close()
    }
}

@Suite("PostgreSQL behind pgbouncer")
struct PoolerTests {
    /// The nightly run makes every check in both modes, and a run for a change some of them.
    static let checks = StorageAdapterCheck.applicable(to: ConformanceTests.capabilities)
        .enumerated().filter { $0.offset % TestLength.count(20, thorough: 1) == 0 }.map(\.element)

    @Test("In transaction mode, the adapter keeps its promises", arguments: checks)
    func keepsPerTransaction(_ check: StorageAdapterCheck) async throws {
        try await Pooler.transaction.value.withStore {
            $0.history = .seconds(3600)
        } _: {
            try await check.run(on: $0)
        }
    }

    @Test("In session mode, the adapter keeps its promises", arguments: checks)
    func keepsPerSession(_ check: StorageAdapterCheck) async throws {
        try await Pooler.session.value.withStore {
            $0.history = .seconds(3600)
        } _: {
            try await check.run(on: $0)
        }
    }

    @Test("A listener behind a pooler, which forwards no announcements, sees the commits of others")
    func polls() async throws {
        for pooler in [try await Pooler.transaction.value, try await Pooler.session.value] {
            let name = UUID().uuidString
            try await pooler.withStore {
                $0.store = name
            } _: { listening in
                let start = try await listening.changes(ChangeRequest()).next
                try await pooler.withStore {
                    $0.store = name
                } _: { writing in
                    var request = ChangeRequest(after: start, waitTimeout: .seconds(30))
                    for number in 1...20 {
                        let waiting = Task { [request] in try await listening.changes(request) }
                        let body = DocumentBody(["n": .integer(Int64(number))])
                        let write = DocumentWrite("notes/1", .set(body))
                        _ = try await writing.commit([WriteBatch([write])])
                        let page = try await waiting.value
                        #expect(page.changes.map(\.path) == ["notes/1"])
                        request.after = page.next
                    }
                }
            }
        }
    }

    @Test("An examination recognizes the pooler, and statistics come through it")
    func examines() async throws {
        try await Pooler.transaction.value.withStore { adapter in
            let write = DocumentWrite("notes/1", .set(DocumentBody(["n": .null])))
            _ = try await adapter.commit([WriteBatch([write])])[0].get()
            let findings = await PostgreSQLStorageAdapter.examine(
                adapter.location,
                configuration: adapter.configuration
            )
            #expect(findings.first?.detail.hasSuffix("behind a pooler") == true, "\(findings)")
            #expect(findings.contains { $0.subject.hasPrefix("store ") && $0.state == .good })
            #expect(findings.allSatisfy { !$0.detail.contains("cannot be examined") })
            #expect(try await adapter.statistics().groupCount == 1)
        }
    }
}
#endif
