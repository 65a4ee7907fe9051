#if PostgreSQL
import KeelStorage
import KeelTestSupport
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Work on PostgreSQL that runs again on a new connection")
struct RepeatedWorkTests {
    private func thread() async throws -> ConnectionThread {
        let url = try await PostgreSQLServer.shared.value.url()
        return try .test(url, answerLimit: .seconds(10))
    }

    @Test("A statement that the server has forgotten is prepared and run again")
    func preparesAgain() async throws {
        let thread = try await thread()
        func answer() async throws -> Int64? {
            try await thread.run { connection in
                try connection.run(DatabaseStatement("SELECT 3::bigint")).first?.integer(0)
            }
        }
        #expect(try await answer() == 3)
        // As a pooler does, or an operator.
        _ = try await thread.run { try $0.run(DatabaseStatement("DEALLOCATE ALL")).count }
        #expect(try await answer() == 3)
        await thread.close()
    }

    @Test("A pooler’s report that it has lost its server counts as a lost connection")
    func believesPoolers() async throws {
        let thread = try await thread()
        _ = try await thread.run { try $0.run(DatabaseStatement("SELECT 1")).count }
        let attempts = Counter()
        let openCount = try await thread.run { connection -> Int in
            let attempt = attempts.next()
            let report =
                "DO $$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = 'connection_failure'; END $$"
            _ = try connection.run(DatabaseStatement(attempt == 1 ? report : "SELECT 1"))
            return connection.openCount
        }
        #expect(openCount == 2)
        #expect(attempts.count == 2)
        await thread.close()
    }
}
#endif
