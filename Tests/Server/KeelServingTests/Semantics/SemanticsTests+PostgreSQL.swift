#if PostgreSQL && (os(Linux) || os(macOS))
import Foundation
import KeelCore
import KeelStoragePostgreSQL
import KeelTestSupport
import Testing

extension SemanticsTests {
    private static let database = Result { try PostgreSQLProcess() }

    /// The nightly run makes every row, and a run for a change every fourth one.
    private static let sampled = SemanticsRow.all.enumerated().filter {
        $0.offset.isMultiple(of: TestLength.count(4, thorough: 1))
    }.map(\.element)

    @Test("PostgreSQL store", .enabled(if: SemanticsRow.isPresent, absence), arguments: sampled)
    func onPostgreSQL(_ row: SemanticsRow) async throws {
        try await check(row, at: Self.database.get().url)
    }

    /// The rows behind a pooler: the nightly run makes every one, and a run for a change every twentieth.
    private static let pooled = SemanticsRow.all.enumerated().filter {
        $0.offset.isMultiple(of: TestLength.count(20, thorough: 1))
    }.map(\.element)

    private static let session = Task {
        try await PoolerProcess(.session, before: Self.database.get().port)
    }
    private static let transaction = Task {
        try await PoolerProcess(.transaction, before: Self.database.get().port)
    }

    /// Limits the stores that are open at a time, whose connections stay with the server in session mode.
    private static let stores = TaskQueue(admitting: 8)

    @Test(
        "PostgreSQL store behind pgbouncer",
        .enabled(if: SemanticsRow.isPresent, absence),
        arguments: PoolerProcess.Mode.allCases,
        pooled
    )
    func behindPooler(_ mode: PoolerProcess.Mode, _ row: SemanticsRow) async throws {
        let pooler = mode == .session ? Self.session : Self.transaction
        let url = try await pooler.value.url
        guard await Self.stores.enter() else { throw CancellationError() }
        defer { Self.stores.leave() }
        try await check(row, at: url)
    }

    /// Makes a row on a store of its own.
    private func check(_ row: SemanticsRow, at url: String) async throws {
        var configuration = PostgreSQLStorageAdapter.Configuration()
        configuration.store = UUID().uuidString
        configuration.history = .seconds(3600)
        let store = try await PostgreSQLStorageAdapter(at: .url(url), configuration: configuration)
        do { try await check(row, on: store) } catch {
            await store.close()
            throw error
        }
        await store.close()
    }
}
#endif
