import ArgumentParser
import KeelDocumentTools
import KeelStorage
import KeelToolSupport

extension DocumentPlace: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

/// The option of commands that may connect to a PostgreSQL database.
struct DatabaseOptions: ParsableArguments {
    @Flag(
        help: """
            Connects to a PostgreSQL server on another machine that does not prove its name with a \
            certificate; an attacker on the network can then read and change everything.
            """
    )
    var unverifiedDatabase = false
}

/// The options of all commands for one store.
struct StoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The store: an SQLite file such as notes.sqlite, sqlite:PATH, \
            postgres://USER@HOST/DATABASE (?store=NAME for another one than “default”), \
            http(s)://HOST:PORT or firestore:PROJECT.
            """,
            valueName: "place"
        ),
        completion: .file()
    )
    var storage: DocumentPlace

    @OptionGroup var database: DatabaseOptions

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    /// Opens the store, runs a command on it, closes it, and turns errors into messages.
    func run(
        for access: StoreAccess,
        isQuiet: Bool = false,
        _ body: (any StorageAdapter, CommandOutput) async throws -> ToolExit
    ) async throws {
        try await runOpened(for: access, isQuiet: isQuiet) { opened, output in
            try await body(opened.adapter, output)
        }
    }

    /// Does the same as ``run(for:isQuiet:_:)``, with the store's indexes.
    func runOpened(
        for access: StoreAccess,
        isQuiet: Bool = false,
        _ body: (OpenedStore, CommandOutput) async throws -> ToolExit
    ) async throws {
        let output = CommandOutput(isJSON: json, isQuiet: isQuiet)
        try await output.reporting {
            try await storage.whileOpen(for: access, database) { try await body($0, output) }
        }
    }
}
