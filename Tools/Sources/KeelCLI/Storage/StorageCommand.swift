import ArgumentParser
import KeelDocumentTools
import KeelToolSupport

/// The commands for those who operate a store.
struct StorageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storage",
        abstract: "Examines, migrates and verifies what stores are kept in.",
        discussion: """
            A store is the path of an SQLite file, sqlite:PATH, or postgres://USER@HOST/DATABASE. \
            KEEL_UNVERIFIED_DATABASE=true has the effect of --unverified-database.

                keel storage doctor postgres://keel@db1,db2/keel
                keel storage verify notes.sqlite
            """,
        subcommands: [
            StorageDoctorCommand.self, StorageMigrateCommand.self, StorageVerifyCommand.self,
            StorageStatementsCommand.self,
        ]
    )
}

/// The options of commands that open a store where it is kept.
struct StoragePlaceOptions: ParsableArguments {
    @Argument(
        help: """
            The store: an SQLite file, sqlite:PATH, or postgres://USER@HOST/DATABASE (?store=NAME for \
            another one than “default”).
            """,
        completion: .file()
    )
    var store: DocumentPlace

    @Flag(
        help: """
            Connects to a PostgreSQL server on another machine that does not prove its name with a \
            certificate; whoever is on the way can then read and change everything.
            """
    )
    var unverifiedDatabase = false

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    func validate() throws {
        switch store {
        case .sqlite, .postgreSQL: break
        case .server, .firestore:
            throw ValidationError(
                "\(store) is a server; give the file or the database in which it keeps documents."
            )
        }
    }
}
