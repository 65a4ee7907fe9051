import ArgumentParser
import KeelDocumentTools
import KeelStorage
import KeelTerminal
import KeelToolSupport

struct IndexesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "indexes",
        abstract: "Builds, lists and deletes the indexes of a store.",
        subcommands: [Import.self, List.self, Delete.self]
    )

    /// Returns the indexes of a file or a database.
    ///
    /// - Throws: `ToolError` for another store.
    private static func indexes(of store: OpenedStore) throws -> any IndexedStore {
        if let indexes = store.indexes { return indexes }
        throw ToolError(
            "only the indexes of a file or of a PostgreSQL database can be listed and deleted",
            advice: "Name the store of the server itself; a project of Google has its own tools."
        )
    }

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Builds the indexes of a firestore.indexes.json, or writes their Swift code.",
            discussion: """
                --storage builds the indexes in the store; --swift writes the StorageSchema that \
                declares them. Entries without an equivalent are named, and the exit code is then 2.
                """
        )

        @Argument(
            help: "The file, as firebase firestore:indexes writes it; - is standard input.",
            completion: .file(extensions: ["json"])
        )
        var file: String

        @Option(
            help: ArgumentHelp(
                "The store in which to build the indexes, as for the other commands.",
                valueName: "place"
            ),
            completion: .file()
        )
        var storage: DocumentPlace?

        @OptionGroup var database: DatabaseOptions

        @Flag(help: "Writes the Swift code of the schema.")
        var swift = false

        @Flag(help: CommandOutput.jsonHelp)
        var json = false

        func validate() throws {
            guard storage != nil || swift else {
                throw ValidationError(
                    "Add --storage PLACE to build the indexes, or --swift to write their code."
                )
            }
            if case .firestore? = storage {
                throw ValidationError(
                    """
                    The indexes of a project of Google are not changed: use Google’s tools, such as \
                    firebase deploy --only firestore:indexes.
                    """
                )
            }
        }

        func run() async throws {
            let output = CommandOutput(isJSON: json)
            try await output.reporting {
                let indexes = try FirebaseIndexes(file: file)
                if let storage {
                    try await storage.whileOpen(for: .creating, database) { opened in
                        try await opened.adapter.prepare(indexes.schema)
                        try await finish(opened.indexes, output)
                    }
                }
                try write(indexes, to: output)
                return indexes.leftOut.isEmpty ? .done : .findings
            }
        }

        /// Builds the rest of the indexes of a file or a database; those of a server are left to it.
        private func finish(
            _ indexes: (any IndexedStore)?,
            _ output: CommandOutput
        ) async throws {
            let line = output.progressLine(unit: .share)
            defer { line.finish() }
            let interval: Duration = line.isDrawn ? .milliseconds(200) : .seconds(5)
            try await indexes?.finishIndexes(every: interval) { progress in
                let names = progress.names.joined(separator: ", ")
                if line.isDrawn {
                    line.update(done: Int(progress.share * 1000), total: 1000, note: names)
                } else if !output.isJSON {
                    output.message("\(Int(progress.share * 100)) % built: \(names)")
                }
            }
        }

        private func write(_ indexes: FirebaseIndexes, to output: CommandOutput) throws {
            let code = SchemaSource.swift(indexes.schema)
            guard !json else {
                try output.record(
                    Summary(
                        indexes: indexes.schema.indexes.map(\.name),
                        leftOut: indexes.leftOut,
                        swift: swift ? code : nil
                    )
                )
                return
            }
            if swift { try output.line(code) }
            let count = indexes.schema.indexes.count.counted("index is", "indexes are")
            switch storage {
            case .server?: output.message("\(count) declared; the server builds what is missing.")
            case .some: output.message("\(count) ready.")
            case nil: break
            }
            for reason in indexes.leftOut { output.message("left out: \(reason)") }
        }

        private struct Summary: Encodable {
            let indexes: [String]
            let leftOut: [String]
            let swift: String?
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "Lists the indexes of a file or database, and how far they are built.",
            aliases: ["ls"]
        )

        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await store.runOpened(for: .reading) { opened, output in
                for index in try await IndexesCommand.indexes(of: opened).indexes() {
                    guard !store.json else {
                        try output.record(Record(name: index.name, progress: index.progress))
                        continue
                    }
                    let state =
                        index.progress < 1
                        ? "\(Int(index.progress * 100)) % built; queries scan meanwhile" : "ready"
                    try output.line("\(index.name)  \(state)")
                }
                return .done
            }
        }

        private struct Record: Encodable {
            let name: String
            let progress: Double
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Deletes indexes of a file or database.",
            discussion: """
                The names are those of "list". No document is changed. A program that declares a \
                deleted index rebuilds it when it runs next.
                """,
            aliases: ["rm"]
        )

        @Argument(help: "The names of the indexes.")
        var names: [String]

        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await store.runOpened(for: .changing) { opened, output in
                let stored = try IndexesCommand.indexes(of: opened)
                let indexes = try await stored.indexes()
                let wanted = indexes.filter { names.contains($0.name) }
                if let unknown = names.first(where: { name in
                    !indexes.contains { $0.name == name }
                }) {
                    throw ToolError(
                        "the store has no index “\(unknown)”",
                        advice: "Type a name that keel documents indexes list shows."
                    )
                }
                for index in wanted { try await stored.dropIndexes(in: index.schema) }
                try output.line(
                    store.json
                        ? #"{"deleted":\#(wanted.count)}"#
                        : "\(wanted.count.counted("index", "indexes")) deleted"
                )
                return .done
            }
        }
    }
}
