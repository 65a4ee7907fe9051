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
            collection goes page by page, and only with --yes.
            """
    )

    @Argument(help: "The document: COLLECTION/ID.")
    var path: String?

    @OptionGroup var store: StoreOptions

    @Option(help: "Deletes every document of this collection.")
    var collection: String?

    @Flag(help: "Deletes the collections below too.")
    var recursive = false

    @Flag(help: "Confirms that a whole collection is meant.")
    var yes = false

    @Flag(name: .shortAndLong, help: "Shows no progress.")
    var quiet = false

    func validate() throws {
        guard (path == nil) != (collection == nil) else {
            throw ValidationError("Name a document or --collection.")
        }
        guard collection == nil || yes else {
            throw ValidationError("Deleting a collection needs --yes.")
        }
    }

    func run() async throws {
        let path = try path.map(Parsed.document)
        let collection = try collection.map(Parsed.collection)
        let isRecursive = recursive
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
                store.json ? #"{"deleted":\#(count)}"# : "\(count) documents deleted"
            )
            return .done
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
