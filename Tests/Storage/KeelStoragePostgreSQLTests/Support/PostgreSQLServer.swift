#if PostgreSQL
import Foundation
import KeelCore
import KeelStorage
import KeelTestSupport
import Testing

@testable import KeelStoragePostgreSQL

/// A PostgreSQL server of the tests, with the stores of the tests.
final class PostgreSQLServer: Sendable {
    /// The server that most tests share.
    static let shared = Task { try await PostgreSQLServer() }

    /// The roles: the first may do everything, the second needs a password.
    static let role = "keel"
    static let cautiousRole = "cautious"
    static let password = "p%ss:w@rd"

    private let process: PostgreSQLProcess
    var port: Int { process.port }

    /// Limits the servers that start at the same time, each of which keeps a processor busy.
    private static let starts = TaskQueue(admitting: 2)

    /// Starts a server and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - primary: The server that the new one copies and follows; nil for a primary of its own.
    ///   - options: The settings of the server, as `name=value`.
    /// - Throws: The error of a server that does not start.
    init(standbyOf primary: PostgreSQLServer? = nil, options: [String] = []) async throws {
        guard await Self.starts.enter() else { throw CancellationError() }
        defer { Self.starts.leave() }
        process = try await PostgreSQLProcess.started(
            (primary.map { ["--standby-of", "\($0.port)"] } ?? []) + options
        )
    }

    /// Starts a primary and a standby, which confirms commits if the pair is synchronous.
    static func pair(
        isSynchronous: Bool = false
    ) async throws -> (primary: PostgreSQLServer, standby: PostgreSQLServer) {
        func options(_ names: String) -> [String] {
            isSynchronous ? ["synchronous_standby_names=\(names)"] : []
        }
        let primary = try await PostgreSQLServer(options: options("*"))
        return (primary, try await PostgreSQLServer(standbyOf: primary, options: options("")))
    }

    /// Ends the server at once, as a crash does, and removes its data.
    func stop() { process.stop() }

    static func freePort() async throws -> Int { try PeerProcess.freePort() }

    func url(_ role: String = role, database: String = "postgres", _ parameters: String = "")
        -> String
    {
        "postgres://\(role)@127.0.0.1:\(port)/\(database)\(parameters)"
    }

    /// Runs a statement as the role that may do everything, also on a standby.
    ///
    /// - Returns: The first column of the first row, if it is a number.
    @discardableResult
    func run(_ sql: String) async throws -> Int64? {
        let thread = try ConnectionThread.test(url(Self.role, "?target_session_attrs=any"))
        let value = try await thread.run { connection in
            let row = try connection.run(DatabaseStatement(sql)).first
            return row.flatMap { $0.isNull(0) ? nil : $0.integer(0) }
        }
        await thread.close()
        return value
    }

    /// Returns the output of one of PostgreSQL's programs, which must succeed.
    static func program(
        _ name: String,
        _ arguments: [String],
        _ input: [UInt8] = []
    ) async throws -> [UInt8] {
        let run = try await ProgramRun(
            URL(filePath: "/usr/bin/env"),
            [name] + arguments,
            input: input
        )
        #expect(run.exitCode == 0, "\(run.errors)")
        return run.output
    }

    /// Limits the connections of tests that run at the same time.
    private static let stores = TaskQueue(admitting: 8)

    /// Runs a closure with an adapter of a store of its own.
    @discardableResult
    static func withStore<Value>(
        _ configure: (inout PostgreSQLStorageAdapter.Configuration) -> Void = { _ in },
        _ body: (PostgreSQLStorageAdapter) async throws -> Value
    ) async throws -> Value {
        guard await stores.enter() else { throw CancellationError() }
        defer { stores.leave() }
        return try await withStore(at: try await shared.value.url(), configure, body)
    }

    /// Runs a closure with an adapter of a store of its own, at any server.
    static func withStore<Value>(
        at url: String,
        _ configure: (inout PostgreSQLStorageAdapter.Configuration) -> Void = { _ in },
        _ body: (PostgreSQLStorageAdapter) async throws -> Value
    ) async throws -> Value {
        var configuration = PostgreSQLStorageAdapter.Configuration()
        configuration.store = UUID().uuidString
        configure(&configuration)
        let adapter = try await PostgreSQLStorageAdapter(
            at: .url(url),
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

extension ConnectionThread {
    /// Returns the thread of a connection that no adapter has.
    static func test(
        _ url: String,
        answerLimit: Duration = .seconds(30)
    ) throws -> ConnectionThread {
        let settings = try ConnectionSettings(.url(url), allowsUnverifiedServers: false)
        return try ConnectionThread("test", settings, answerLimit: answerLimit)
    }

    /// Runs statements, and ignores their rows.
    nonisolated func run(_ sql: [String]) async throws {
        _ = try await run { try $0.run(sql.map { DatabaseStatement($0) }).count }
    }
}

extension PostgreSQLStorageAdapter {
    /// Opens a store on the servers, or relays in front of them, at these ports.
    static func test(
        at ports: Int...,
        configure: (inout Configuration) -> Void = { _ in }
    ) async throws(StorageError) -> PostgreSQLStorageAdapter {
        var configuration = Configuration()
        configure(&configuration)
        let hosts = ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
        return try await PostgreSQLStorageAdapter(
            at: .url("postgres://keel@\(hosts)/postgres"),
            configuration: configuration
        )
    }

    /// Opens another adapter of the same store, as another process does.
    func another(
        _ configuration: Configuration? = nil
    ) async throws(StorageError) -> PostgreSQLStorageAdapter {
        try await PostgreSQLStorageAdapter(
            at: location,
            configuration: configuration ?? self.configuration
        )
    }
}
#endif
