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

    #if Observability
    static func operating(_ adapter: PostgreSQLStorageAdapter) async throws {
        // With swift-metrics and the trait Observability, as long as the app runs.
        await adapter.reportMetrics(label: "notes", every: .seconds(10))
        // As text, for an endpoint of the app.
        let page = await adapter.metricsText(label: "notes")
        // As values.
        let writesPerGroup = try await adapter.statistics().writesPerGroup
        _ = (page, writesPerGroup)
    }
    #endif

    private struct Log: Sendable {
        func warning(_ text: String) {}
    }
}
#endif
