#if PostgreSQL
import KeelStorage
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Errors of PostgreSQL")
struct ErrorTests {
    /// The states of a server that lacks file descriptors, memory, or space for temporary files.
    static let shortages = ["53000", "53200", "53400"]

    @Test("A server that lacks something is unavailable", arguments: shortages)
    func lacks(_ state: String) {
        let error = StorageError(mapping: DatabaseFailure(state: state, "out of it"))
        #expect(error.code == .unavailable)
        #expect(error.effect == .none)
    }

    /// The states of a database without a table, or without the schema.
    static let absences = ["42P01", "3F000"]

    @Test("A store whose tables are missing is unavailable", arguments: absences)
    func lacksTables(_ state: String) {
        let error = StorageError(mapping: DatabaseFailure(state: state, "relation does not exist"))
        #expect(error.code == .unavailable)
        #expect(error.effect == .none)
    }

    @Test("A full queue of notifications is not a value that is too large")
    func queueIsFull() {
        // In another language, with the SQLSTATE of a value that is too large.
        var failure = DatabaseFailure(state: "54000", "zu viele Benachrichtigungen")
        #expect(StorageError(mapping: failure).code == .tooLarge)
        failure.file = "async.c"
        let error = StorageError(mapping: failure)
        #expect(error.code == .unavailable)
        #expect(error.code.isTransient)
        #expect(error.effect == .none)
    }

    @Test("A failure names the source file of the server, whatever the language of its messages")
    func file() async throws {
        try await PostgreSQLServer.withStore { adapter in
            let file = try await adapter.pool.writer.run { connection -> String? in
                do {
                    try connection.run(DatabaseStatement("SELECT pg_notify('', '')"))
                    return nil
                } catch let failure as DatabaseFailure {
                    return failure.file
                }
            }
            #expect(file == "async.c")
        }
    }
}
#endif
