#if PostgreSQL && (os(Linux) || os(macOS))
import Foundation
import KeelStoragePostgreSQL
import KeelTestSupport
import Testing

extension SemanticsTests {
    private static let database = Result { try PostgreSQLProcess() }

    /// The nightly run makes every row, and a run for a change every fourth one.
    private static let sampled = SemanticsRow.all.enumerated().filter {
        $0.offset.isMultiple(of: TestLength.count(4, thorough: 1))
    }.map(\.element)

    @Test(
        "PostgreSQL store",
        .enabled(if: SemanticsRow.isPresent, absence),
        arguments: sampled
    )
    func onPostgreSQL(_ row: SemanticsRow) async throws {
        var configuration = PostgreSQLStorageAdapter.Configuration()
        configuration.store = UUID().uuidString
        configuration.history = .seconds(3600)
        let store = try await PostgreSQLStorageAdapter(
            at: .url(Self.database.get().url),
            configuration: configuration
        )
        do { try await check(row, on: store) } catch {
            await store.close()
            throw error
        }
        await store.close()
    }
}
#endif
