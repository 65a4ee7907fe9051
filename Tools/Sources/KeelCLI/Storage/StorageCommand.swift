import ArgumentParser
import KeelDocumentTools
import KeelToolSupport

struct StorageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storage",
        abstract: "Examines and verifies stores, and migrates PostgreSQL databases.",
        discussion: """
            A store is the path of an SQLite file, sqlite:PATH, or postgres://USER@HOST/DATABASE. \
            If none is named, it is that of --storage, of the variable KEEL_STORAGE, or of storage \
            in keel.toml. KEEL_UNVERIFIED_DATABASE=true has the effect of --unverified-database.

                keel storage doctor postgres://keel@db1,db2/keel
                keel storage verify notes.sqlite
            """,
        subcommands: [
            StorageDoctorCommand.self, StorageMigrateCommand.self, StorageVerifyCommand.self,
            StorageStatementsCommand.self,
        ]
    )
}

/// The options of commands for a file or a database.
struct StoragePlaceOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            """
            The store: an SQLite file, sqlite:PATH, or postgres://USER@HOST/DATABASE (?store=NAME for \
            another one than “default”); that of --storage if it is not given.
            """,
            valueName: "store"
        ),
        completion: .file()
    )
    var named: DocumentPlace?

    // A text, because a setting for other commands may be none of these places.
    @Option(
        help: ArgumentHelp("The store, if the command names none.", valueName: "place"),
        completion: .file()
    )
    var storage: String?

    @OptionGroup var database: DatabaseOptions

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    /// The store of the argument, otherwise that of --storage.
    var store: DocumentPlace {
        get throws {
            if let named { return named }
            guard let storage else {
                throw ValidationError(
                    "Name the store: type its path or its URL. To give it once, set KEEL_STORAGE "
                        + "or write storage = \"…\" in keel.toml."
                )
            }
            guard let place = DocumentPlace(storage) else {
                throw ValidationError(
                    "--storage “\(storage)” is not a store: type a path such as notes.sqlite, "
                        + "sqlite:PATH or postgres://USER@HOST/DATABASE."
                )
            }
            return place
        }
    }

    func validate() throws {
        let store = try store
        switch store {
        case .sqlite, .postgreSQL: break
        case .server, .firestore:
            throw ValidationError(
                "\(named == nil ? "--storage " : "")\(store) is a server: type the file or the "
                    + "database in which it keeps documents."
            )
        }
    }
}
