#if PostgreSQL
public import KeelStorageAdapting

extension PostgreSQLStorageAdapter {
    /// A change of a database's tables from one version to another.
    public struct Migration: Sendable, Hashable {
        /// The version of the tables before; 0 without tables.
        public var from: Int
        /// The version of the tables of this program.
        public var to: Int
        /// The statements of the transaction; empty if the tables had the version already.
        public var statements: [String]
    }

    /// Creates the tables in a database that lacks them, or completes those of an earlier version of Keel.
    ///
    /// An adapter does this itself when it opens a store; call it for a database whose programs lack the right to do
    /// so. It waits for running commits of all stores, and later commits and reads wait for it. It creates no store.
    ///
    /// - Parameters:
    ///   - location: The address of the database.
    ///   - configuration: The settings of the connection.
    ///   - isDryRun: Whether the database is left as it is.
    /// - Returns: The steps that were taken, or would be.
    /// - Throws: `StorageError/Code/schemaTooNew` for a store of a later version, `StorageError/Code/permissionDenied`
    ///   for a role without the rights, `StorageError/Code/busy` for tables that stay locked for a minute, and the
    ///   errors of connecting.
    public static func migrate(
        _ location: PostgreSQLStorageLocation,
        configuration: Configuration = Configuration(),
        isDryRun: Bool = false
    ) async throws(StorageError) -> Migration {
        do throws(StorageError) {
            let settings = try ConnectionSettings(
                location,
                allowsUnverifiedServers: configuration.allowsUnverifiedServers
            )
            return try await ConnectionThread.during(
                "keel.postgresql.migration",
                settings,
                answerLimit: configuration.answerTimeout
            ) { connection in
                try migrate(on: connection, isDryRun: isDryRun)
            }
        } catch {
            throw error.during("migrate", on: location.description)
        }
    }

    private static func migrate(
        on connection: DatabaseConnection,
        isDryRun: Bool
    ) throws -> Migration {
        var from = try StoreTables.version(in: connection)
        if from > 0 {
            let tail = DatabaseStatement(
                "SELECT \(StoreTail.columns) FROM keel.stores ORDER BY format DESC LIMIT 1"
            )
            if from == StoreTables.version, let row = try connection.run(tail).first {
                try StoreTail(row).checkFormat()
            }
        }
        if !isDryRun { from = try StoreTables.create(connection) }
        return Migration(
            from: from,
            to: StoreTables.version,
            statements: StoreTables.migration(from: from)
        )
    }
}

extension ConnectionThread {
    /// Runs work on a connection of its own, which is closed afterwards.
    static func during<Value: Sendable>(
        _ name: String,
        _ settings: ConnectionSettings,
        answerLimit: Duration,
        _ work: @escaping @Sendable (DatabaseConnection) throws -> Value
    ) async throws(StorageError) -> Value {
        let thread = try ConnectionThread(name, settings, answerLimit: answerLimit)
        let result: Result<Value, StorageError>
        do throws(StorageError) {
            result = .success(try await thread.run(work))
        } catch {
            result = .failure(error)
        }
        await thread.close()
        return try result.get()
    }
}
#endif
