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
            Collections below a deleted document stay, unless --recursive is given. A collection is \
            deleted page by page. The command asks before it deletes a collection, or with \
            --recursive. The exit code is 2 if there was nothing to delete.
            """,
        aliases: ["rm"]
    )

    @Argument(help: "A document, COLLECTION/ID, or a collection with all its documents.")
    var path: String

    @OptionGroup var store: StoreOptions

    @Flag(name: .shortAndLong, help: "Deletes the collections below, too.")
    var recursive = false

    @Flag(name: .shortAndLong, help: "Deletes without asking.")
    var yes = false

    @Flag(name: .shortAndLong, help: "Shows no progress.")
    var quiet = false

    func validate() throws { _ = try Parsed.target(path) }

    func run() async throws {
        let target = try Parsed.target(path)
        let isRecursive = recursive
        var isCollection = false
        if case .collection = target { isCollection = true }
        if !yes, isCollection || isRecursive {
            let what = Self.subject(path, isCollection: isCollection, isRecursive: isRecursive)
            // Before the work, so that Control-C at the question just ends the command.
            try await CommandOutput(isJSON: store.json).reporting {
                try Confirmation.ask(
                    "Delete \(what) in \(store.storage)?",
                    advice: "Add --yes to delete \(what)."
                )
                return .done
            }
        }
        try await store.run(for: .changing, isQuiet: quiet) { adapter, output in
            let line = output.progressLine(unit: .items("documents"))
            defer { line.finish() }
            let count = try await Interruption.value(
                advice: "Run it again to delete the rest."
            ) {
                let (deletion, client) = (DocumentDeletion(in: adapter), StorageClient(adapter))
                switch target {
                case .collection(let collection):
                    let total =
                        line.isDrawn && !isRecursive
                        ? try await client.count(DocumentQuery(collection)) : nil
                    return try await deletion.delete(collection, isRecursive: isRecursive) {
                        line.update(done: $0, total: total)
                    }
                case .document(let path):
                    var count = isRecursive ? try await deletion.deleteBelow(path) : 0
                    count += try await Self.isThere(path, in: client) ? 1 : 0
                    try await client.deleteDocument(path)
                    return count
                }
            }
            line.finish()
            try output.line(
                store.json
                    ? #"{"deleted":\#(count)}"# : "\(count.counted("document")) deleted"
            )
            return count == 0 ? .findings : .done
        }
    }

    /// Returns the words for the deleted documents in the question.
    static func subject(_ path: String, isCollection: Bool, isRecursive: Bool) -> String {
        let what = isCollection ? "all documents of “\(path)”" : "“\(path)”"
        return isRecursive ? "\(what) and all collections below" : what
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
