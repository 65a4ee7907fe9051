import ArgumentParser
import KeelDocumentTools
import KeelStorage
import KeelToolSupport

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Shows a document or a collection, and each change of it, as it happens.",
        discussion: """
            Writes one line a change; a document that cannot be read is one, with the reason. \
            Control-C ends it with the exit code 0.
            """
    )

    @Argument(help: "The document or collection.")
    var path: String

    @OptionGroup var store: StoreOptions

    func run() async throws {
        let isDocument = path.split(separator: "/").count % 2 == 0
        try await store.run(for: .reading) { adapter, output in
            let client = StorageClient(adapter)
            let (path, isJSON) = (path, store.json)
            try await Interruption.wait {
                if isDocument {
                    for try await snapshot in client.listenToDocument(DocumentPath(path)) {
                        if let failure = snapshot.failure {
                            try Self.write(failure, isJSON, output)
                            continue
                        }
                        let kind = snapshot.exists ? "current" : "missing"
                        try Self.write(kind, path, snapshot.document, isJSON, output)
                    }
                } else {
                    let query = DocumentQuery(CollectionPath(path))
                    var failures: [UnreadableDocument] = []
                    for try await snapshot in client.listen(to: query) {
                        for failure in snapshot.failures where !failures.contains(failure) {
                            try Self.write(failure, isJSON, output)
                        }
                        failures = snapshot.failures
                        for change in snapshot.changes {
                            let name = change.document.path.string
                            let kind = Self.word(change.kind)
                            let document = kind == "removed" ? nil : change.document
                            try Self.write(kind, name, document, isJSON, output)
                        }
                    }
                }
            }
            return .done
        }
    }

    private static func word(_ kind: DocumentChange.Kind) -> String {
        switch kind {
        case .added: "added"
        case .modified: "modified"
        case .removed: "removed"
        }
    }

    private static func write(
        _ kind: String,
        _ path: String,
        _ document: Document?,
        _ isJSON: Bool,
        _ output: CommandOutput
    ) throws {
        var text: String?
        do throws(StorageError) {
            text = try document.map { document throws(StorageError) in
                let line = try ExportLine(isPlain: !isJSON).text(of: document)
                return String(decoding: line, as: UTF8.self)
            }
        } catch {
            return try write(UnreadableDocument(DocumentPath(path), error), isJSON, output)
        }
        guard !isJSON else {
            let body = text.map { #","document":\#($0)"# } ?? ""
            try output.line(#"{"change":"\#(kind)","path":\#(Parsed.json(path))\#(body)}"#)
            return
        }
        let padded = kind + String(repeating: " ", count: 8 - kind.count)
        try output.line("\(padded)  \(path)\(text.map { "  \($0)" } ?? "")")
    }

    private static func write(
        _ document: UnreadableDocument,
        _ isJSON: Bool,
        _ output: CommandOutput
    ) throws {
        let (path, reason) = (document.path.string, ToolError(describing: document.error).message)
        try output.line(
            isJSON
                ? #"{"change":"unreadable","path":\#(Parsed.json(path)),"reason":\#(Parsed.json(reason))}"#
                : "unreadable  \(path)  \(reason)"
        )
    }
}
