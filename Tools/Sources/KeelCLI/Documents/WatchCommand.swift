import ArgumentParser
import KeelDocumentTools
import KeelStorage
import KeelToolSupport

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Shows a document or a collection, and each change of it, as it happens.",
        discussion: """
            Writes one line for each change, and one with the reason for a document that cannot be \
            read. Control-C ends it with exit code 0.
            """
    )

    @Argument(help: "The document, COLLECTION/ID, or the collection.")
    var path: String

    @OptionGroup var store: StoreOptions

    func validate() throws { _ = try Parsed.target(path) }

    func run() async throws {
        let target = try Parsed.target(path)
        try await store.run(for: .reading) { adapter, output in
            let client = StorageClient(adapter)
            let isJSON = store.json
            let line = ChangeLine(
                output: output,
                isJSON: isJSON,
                document: ExportLine(isPlain: !isJSON)
            )
            try await Interruption.wait {
                var outage = OutageNote(output)
                switch target {
                case .document(let path):
                    var last: DocumentSnapshot?
                    for try await snapshot in client.listenToDocument(path) {
                        outage.show(snapshot.isFromCache)
                        let known = last
                        last = snapshot
                        if let known, known.document == snapshot.document,
                            known.failure == snapshot.failure
                        {
                            continue
                        }
                        if let failure = snapshot.failure {
                            try line.write(failure)
                            continue
                        }
                        let kind = snapshot.exists ? "current" : "missing"
                        try line.write(kind, path, snapshot.document)
                    }
                case .collection(let collection):
                    var failures: [UnreadableDocument] = []
                    for try await snapshot in client.listen(to: DocumentQuery(collection)) {
                        outage.show(snapshot.isFromCache)
                        try line.write(snapshot, known: failures)
                        failures = snapshot.failures
                    }
                }
            }
            return .done
        }
    }
}
