import ArgumentParser
import KeelDocumentTools
import KeelToolSupport

#if PostgreSQL
import KeelStoragePostgreSQL
#endif

struct StorageMigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract:
            "Creates the tables of a PostgreSQL database, or completes those of an earlier keel.",
        discussion: """
            Programs do this themselves when they open a store; this command is for databases whose \
            programs lack the rights. Commits wait meanwhile. SQLite files are migrated by the \
            program that opens them.
            """
    )

    @OptionGroup
    var place: StoragePlaceOptions

    @Flag(
        name: [.customShort("n"), .long],
        help: "Prints the statements, and leaves the database as it is."
    )
    var dryRun = false

    func validate() throws {
        guard case .postgreSQL = try place.store else {
            throw ValidationError(
                "migrate is for PostgreSQL; the program that opens an SQLite file migrates it."
            )
        }
    }

    func run() async throws {
        let output = CommandOutput(isJSON: place.json)
        try await output.reporting {
            #if PostgreSQL
            guard case .postgreSQL(let url) = try place.store else { return .usage }
            let migration = try await PostgreSQLStorageAdapter.migrated(
                at: url,
                allowsUnverifiedServers: place.database.unverifiedDatabase,
                isDryRun: dryRun
            )
            try write(migration, to: output)
            return .done
            #else
            throw ToolError.lacksPostgreSQL
            #endif
        }
    }

    #if PostgreSQL
    private func write(
        _ migration: PostgreSQLStorageAdapter.Migration,
        to output: CommandOutput
    ) throws {
        guard !place.json else {
            return try output.record(
                Record(
                    from: migration.from,
                    to: migration.to,
                    statements: dryRun ? migration.statements : nil
                )
            )
        }
        let versions =
            switch migration.from {
            case migration.to: "the tables have version \(migration.to) already"
            case 0: "the tables are created, with version \(migration.to)"
            default: "the tables go from version \(migration.from) to \(migration.to)"
            }
        guard dryRun else { return try output.line(versions) }
        try output.line("-- \(versions)")
        guard !migration.statements.isEmpty else { return }
        let statements = ["BEGIN"] + migration.statements + ["COMMIT"]
        try output.line(statements.map { $0 + ";" }.joined(separator: "\n"))
    }

    private struct Record: Encodable {
        let from: Int
        let to: Int
        let statements: [String]?
    }
    #endif
}
