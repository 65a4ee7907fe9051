import ArgumentParser
import KeelDocumentTools
import KeelStorage
import KeelTerminal
import KeelToolSupport

struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Shows a document.",
        discussion: "The exit code is 1 if the document does not exist."
    )

    @Argument(help: "The document: COLLECTION/ID.")
    var path: String

    @OptionGroup var store: StoreOptions

    @OptionGroup var past: PastOptions

    @OptionGroup var table: TableOptions

    @Flag(help: "Writes the fields as ordinary JSON.")
    var plain = false

    func validate() throws { _ = try Parsed.document(path) }

    func run() async throws {
        let path = try Parsed.document(path)
        try await store.run(for: .reading) { adapter, output in
            let document = try await past.client(adapter).getDocument(path)
            guard !store.json, !plain else {
                try output.line(ExportLine(isPlain: plain && !store.json).text(of: document))
                return .done
            }
            try output.line("\(document.path)  revision \(document.revision)")
            let fields = try document.fields()
            let names = fields.names.map(TextWidth.harmless)
            let width = names.map { TextWidth.of($0) }.max() ?? 0
            for (name, field) in zip(names, fields) {
                let line =
                    "  \(TextWidth.padded(name, to: width))  \(DocumentTable.cell(field.value))"
                try output.line(table.width.map { TextWidth.truncated(line, to: $0) } ?? line)
            }
            return .done
        }
    }
}
