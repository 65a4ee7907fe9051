import ArgumentParser
import KeelToolSupport

#if PostgreSQL
import KeelStoragePostgreSQL
#endif

struct StorageStatementsCommand: AsyncParsableCommand {
    enum Engine: String, ExpressibleByArgument, CaseIterable {
        case postgresql
    }

    static let configuration = CommandConfiguration(
        commandName: "statements",
        abstract: "Prints the SQL that keel sends to a database, as a script.",
        discussion: """
            Use it to find out whether another server that speaks PostgreSQL's protocol, such as \
            CockroachDB, YugabyteDB or Citus, accepts these statements:

                keel storage statements postgresql | psql postgres://USER@HOST/EMPTY-DATABASE

            psql ends at the first statement that fails, with exit code 3.
            """
    )

    @Argument(help: "The database.")
    var engine: Engine

    func run() async throws {
        let output = CommandOutput(isJSON: false)
        try await output.reporting {
            #if PostgreSQL
            try output.line(PostgreSQLStorageAdapter.statementScript())
            return .done
            #else
            throw ToolError.lacksPostgreSQL
            #endif
        }
    }
}
