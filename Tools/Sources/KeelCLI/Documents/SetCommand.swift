import ArgumentParser
import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStorageFirestore
import KeelToolSupport

struct SetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Writes a document.",
        discussion: """
            Replaces the document, or creates it. The fields are one JSON object; with --typed, \
            every value has Firestore's typed form, such as \
            {"born": {"timestampValue": "1815-12-10T00:00:00Z"}}.
            """
    )

    @Argument(help: "The document: COLLECTION/ID.")
    var path: String

    @Argument(help: "The fields as JSON; - reads standard input.")
    var fields: String

    @OptionGroup var store: StoreOptions

    @Flag(help: "Keeps the fields that are not named.")
    var merge = false

    @Flag(help: "Takes values of Firestore's typed form.")
    var typed = false

    func validate() throws {
        _ = try Parsed.document(path)
        if fields != "-" { _ = try parsed(Array(fields.utf8)) }
    }

    func run() async throws {
        let path = try Parsed.document(path)
        var given: DocumentFields?
        // Before a store is created.
        try await CommandOutput(isJSON: store.json).reporting {
            given = try givenFields()
            return .done
        }
        guard let fields = given else { return }
        try await store.run(for: .creating) { adapter, output in
            let client = StorageClient(adapter)
            let receipt =
                merge
                ? try await client.mergeDocument(path, fields)
                : try await client.setDocument(path, fields)
            let revision = receipt.revision?.description ?? "unknown"
            try output.line(
                store.json
                    ? #"{"path":\#(Parsed.json(path.string)),"revision":"\#(revision)"}"#
                    : "\(path) is at revision \(revision)"
            )
            return .done
        }
    }

    private func givenFields() throws -> DocumentFields {
        guard fields == "-" else { return try parsed(Array(fields.utf8)) }
        let text = Array(try StandardInput.data())
        do {
            return try parsed(text)
        } catch let error as ValidationError {
            // The usage would not help: the mistake is not on the command line.
            throw ToolError(
                error.message,
                advice: "Write one JSON object to standard input.",
                exit: .usage
            )
        }
    }

    private func parsed(_ text: [UInt8]) throws -> DocumentFields {
        do throws(StorageError) {
            if typed {
                let map = Array(#"{"mapValue":{"fields":"#.utf8) + text + Array("}}".utf8)
                if let fields = try DocumentJSON.value(typed: map).mapValue { return fields }
            } else if let fields = try DocumentJSON.value(plain: text).mapValue {
                return fields
            }
        } catch {
            throw ValidationError("the fields: \(error.message)")
        }
        throw ValidationError("the fields are not a JSON object.")
    }
}
