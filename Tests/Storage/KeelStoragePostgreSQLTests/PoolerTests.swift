#if PostgreSQL
import Foundation
import KeelConformance
import KeelStorage
import KeelStorageAdapting
import KeelStoragePostgreSQL
import KeelTestSupport
import Testing

/// pgbouncer in front of the server that most tests share.
struct Pooler {
    static let session = Task { try await Pooler(.session) }
    static let transaction = Task { try await Pooler(.transaction) }

    private let process: PoolerProcess

    private init(_ mode: PoolerProcess.Mode) async throws {
        let server = try await PostgreSQLServer.shared.value
        process = try await PoolerProcess(mode, before: server.port)
    }

    static func running(_ mode: PoolerProcess.Mode) async throws -> Pooler {
        switch mode {
        case .session: try await session.value
        case .transaction: try await transaction.value
        }
    }

    /// Runs a closure with an adapter of a store of its own.
    func withStore(
        _ configure: (inout PostgreSQLStorageAdapter.Configuration) -> Void = { _ in },
        _ body: (PostgreSQLStorageAdapter) async throws -> Void
    ) async throws {
        try await PostgreSQLServer.withStore(at: process.url, configure, body)
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
