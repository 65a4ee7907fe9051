#if PostgreSQL
import KeelStorage
import KeelStoragePostgreSQL

/// Examples from comments and pages; compiled but not run, because their servers do not exist.
enum PostgreSQLExamples {
    static func postgreSQLStorageAdapter() async throws {
        let store = StorageClient(
            try await PostgreSQLStorageAdapter(at: .url("postgres://keel@db.example.com/keel"))
        )
        _ = store
    }

    static func opening() async throws {
        let adapter = try await PostgreSQLStorageAdapter(
            at: .url("postgres://keel@db.example.com/keel?sslrootcert=/etc/ssl/db.pem")
        )
        let store = StorageClient(adapter)
        _ = store
    }

    static func moving(_ sqlite: some StorageAdapter, _ postgreSQL: PostgreSQLStorageAdapter) {
        let logger = Log()
        let store = StorageClient(
            sqlite.mirrored(to: postgreSQL) { event in logger.warning("\(event)") }
        )
        _ = store
    }

    private struct Log: Sendable {
        func warning(_ text: String) {}
    }
}
#endif
