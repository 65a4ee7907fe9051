import ArgumentParser
import KeelDocumentTools
import KeelStorage
import KeelTerminal
import KeelToolSupport

struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes a document or a collection.",
        discussion: """
            Collections below a deleted document stay, unless --recursive says otherwise. A \
            collection goes page by page, after a question. The exit code is 2 where there was \
            nothing to delete.
            """
    )

    @Argument(help: "The document: COLLECTION/ID.")
    var path: String?

    @OptionGroup var store: StoreOptions

    @Option(help: "Deletes every document of this collection.")
    var collection: String?

    @Flag(help: "Deletes the collections below too.")
    var recursive = false

    @Flag(name: .shortAndLong, help: "Deletes a collection without asking.")
    var yes = false

    @Flag(name: .shortAndLong, help: "Shows no progress.")
    var quiet = false

    func validate() throws {
        guard (path == nil) != (collection == nil) else {
            throw ValidationError("Name a document or --collection.")
        }
        _ = try path.map(Parsed.document)
        _ = try collection.map(Parsed.collection)
    }

    func run() async throws {
        let path = try path.map(Parsed.document)
        let collection = try collection.map(Parsed.collection)
        let isRecursive = recursive
        if let collection, !yes {
            // Before the work, so that Control-C at the question just ends the command.
            try await CommandOutput(isJSON: store.json).reporting {
                try Confirmation.ask(
                    "Delete all documents of “\(collection)” in \(store.store)?",
                    advice: "Add --yes to delete all documents of “\(collection)”."
                )
                return .done
            }
        }
        try await store.run(for: .changing, isQuiet: quiet) { adapter, output in
            let line = output.progressLine(unit: .items("documents"))
            defer { line.finish() }
            let count = try await Interruption.value(
                advice: "What is deleted stays deleted; run it again to delete the rest."
            ) {
                let (deletion, client) = (DocumentDeletion(in: adapter), StorageClient(adapter))
                if let collection {
                    let total =
                        line.isDrawn && !isRecursive
                        ? try await client.count(DocumentQuery(collection)) : nil
                    return try await deletion.delete(collection, isRecursive: isRecursive) {
                        line.update(done: $0, total: total)
                    }
                }
                guard let path else { return 0 }
                var count = isRecursive ? try await deletion.deleteBelow(path) : 0
                count += try await Self.isThere(path, in: client) ? 1 : 0
                try await client.deleteDocument(path)
                return count
            }
            line.finish()
            try output.line(
                store.json
                    ? #"{"deleted":\#(count)}"# : "\(count.counted("document")) deleted"
            )
            return count == 0 ? .findings : .done
        }
    }

    /// Whether a document exists at a path, even an unreadable one.
    private static func isThere(
        _ path: DocumentPath,
        in client: StorageClient
    ) async throws(StorageError) -> Bool {
        do throws(StorageError) {
            return try await client.findDocument(path) != nil
        } catch {
            guard error.code == .corrupted else { throw error }
            return true
        }
    }
}
