import ArgumentParser
import Foundation
import KeelDocumentTools
import KeelStorage
import KeelToolSupport

struct IndexesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "indexes",
        abstract: "Works with declarations of indexes.",
        subcommands: [Import.self]
    )

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Builds the indexes of a firestore.indexes.json, or writes their Swift code.",
            discussion: """
                With --store the store gets the indexes; with --swift the StorageSchema that \
                declares them is written. What has no counterpart is named, and the exit code is \
                then 2.
                """
        )

        @Argument(help: "The file, as firebase firestore:indexes writes it.")
        var file: String

        @Option(help: "The store that gets the indexes.")
        var store: DocumentPlace?

        @Flag(help: "Writes the Swift code of the schema.")
        var swift = false

        @Flag(help: "Writes JSON for programs.")
        var json = false

        func validate() throws {
            guard store != nil || swift else { throw ValidationError("Add --store or --swift.") }
        }

        func run() async throws {
            let output = CommandOutput(isJSON: json)
            try await output.reporting {
                let indexes = try FirebaseIndexes(Data(contentsOf: URL(fileURLWithPath: file)))
                if let store {
                    let opened = try store.opened(for: .creating)
                    do {
                        try await opened.adapter.prepare(indexes.schema)
                    } catch {
                        await opened.close()
                        throw error
                    }
                    await opened.close()
                }
                try write(indexes, to: output)
                return indexes.leftOut.isEmpty ? .done : .findings
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
            if store != nil {
                output.message("\(indexes.schema.indexes.count) indexes are ready.")
            }
            for reason in indexes.leftOut { output.message("left out: \(reason)") }
        }

        private struct Summary: Encodable {
            let indexes: [String]
            let leftOut: [String]
            let swift: String?
        }
    }
}
