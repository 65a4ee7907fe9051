import ArgumentParser
import KeelDocumentTools
import KeelStorage
import KeelToolSupport

struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Shows a document.",
        discussion: "A document that is not there is a failure: the exit code is 1."
    )

    @Argument(help: "The document: COLLECTION/ID.")
    var path: String

    @OptionGroup var store: StoreOptions

    @OptionGroup var past: PastOptions

    @Flag(help: "Writes the fields as ordinary JSON.")
    var plain = false

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
            let width = fields.names.map(\.count).max() ?? 0
            for field in fields {
                let space = String(repeating: " ", count: width - field.name.count)
                try output.line("  \(field.name)\(space)  \(DocumentTable.cell(field.value))")
            }
            return .done
        }
    }
}
