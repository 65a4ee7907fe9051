#if PostgreSQL
import Foundation
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

    private static func setFileLimit(_ count: rlim_t) -> Int32 {
        #if canImport(Glibc)
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let files = RLIMIT_NOFILE
        #endif
        var limit = rlimit(rlim_cur: count, rlim_max: count)
        return setrlimit(files, &limit)
    }

    @Test("A process with too many open files does not take the server for full")
    func openFiles() async {
        // In a process of its own, because other tests need files meanwhile.
        await #expect(processExitsWith: .success) {
            try #require(ErrorTests.setFileLimit(0) == 0)
            let settings = ConnectionSettings(hosts: [], attemptLimit: .seconds(5))
            let error = #expect(throws: StorageError.self) {
                try ConnectionThread("test", settings, answerLimit: .seconds(10))
            }
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("open files") == true)
        }
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
                } catch let failure as DatabaseFailure { return failure.file }
            }
            #expect(file == "async.c")
        }
    }
}
#endif
