import ArgumentParser
import KeelDocumentTools
import KeelStorage
import KeelToolSupport

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Shows a document or a collection, and each change of it, as it happens.",
        discussion: "Writes one line a change. Control-C ends it with the exit code 0."
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
                        let kind = snapshot.exists ? "current" : "missing"
                        try Self.write(kind, path, snapshot.document, isJSON, output)
                    }
                } else {
                    let query = DocumentQuery(CollectionPath(path))
                    for try await snapshot in client.listen(to: query) {
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
        guard !isJSON else {
            let body = try document.map { #","document":\#(try Parsed.json($0))"# } ?? ""
            try output.line(#"{"change":"\#(kind)","path":\#(Parsed.json(path))\#(body)}"#)
            return
        }
        let text = try document.map { document in
            let line = try ExportLine(isPlain: true).text(of: document)
            return "  \(String(decoding: line, as: UTF8.self))"
        }
        let padded = kind + String(repeating: " ", count: 8 - kind.count)
        try output.line("\(padded)  \(path)\(text ?? "")")
    }
}
