import ArgumentParser
import Foundation
import KeelDocumentTools
import KeelStorage
import KeelTerminal
import KeelToolSupport

extension ImportFormat: ExpressibleByArgument {}

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports documents from a file of JSON.",
        discussion: """
            Takes one array of objects, one object per line, or documents in Firestore's typed form \
            as export writes them. Only typed documents have names: other files need a collection. A \
            bad line, also one of more than 32 MiB or whose document has more than 1 MiB, is \
            reported with its number and left out; the exit code is then 2.

            The checkpoint FILE.keel-import beside the file records the progress until the import is \
            complete. --resume continues an interrupted import from there, and no line is stored \
            twice. An import of standard input cannot be resumed; its temporary copy is removed at \
            the end.

                keel documents import notes.jsonl notes --storage notes.sqlite --id id
            """
    )

    @Argument(help: "The file; - is standard input.", completion: .file())
    var file: String

    @Argument(help: "The collection; typed documents do not need one, because they have names.")
    var collection: String?

    @OptionGroup var store: StoreOptions

    @Option(
        name: .customLong("id"),
        help: ArgumentHelp(
            "The field with the id; without it, ids are those of typed documents, or derived from the lines.",
            valueName: "field"
        )
    )
    var idField: String?

    @Option(help: "The form of the file.")
    var format = ImportFormat.auto

    @Option(help: "The documents of a batch, 1 to 500; up to eight batches are committed at once.")
    var batch = 500

    @Flag(help: "Continues an interrupted import.")
    var resume = false

    @Flag(help: "Keeps the times and revisions of typed documents.")
    var exact = false

    @Option(help: "A file for the bad lines, unchanged.", completion: .file())
    var badLines: String?

    @Option(
        help: "The checkpoint's file, for a FILE in a read-only folder.",
        completion: .file()
    )
    var checkpoint: String?

    @Flag(name: .shortAndLong, help: "Shows no progress.")
    var quiet = false

    func validate() throws {
        guard file != "-" || (!resume && checkpoint == nil) else {
            throw ValidationError(
                "Standard input cannot be read again: --resume and --checkpoint need a file."
            )
        }
        try Parsed.requirePath(badLines, of: "--bad-lines")
        try Parsed.requirePath(checkpoint, of: "--checkpoint")
        guard (1...500).contains(batch) else { throw ValidationError("--batch is 1 to 500.") }
        if let collection {
            try Parsed.requireNoFile(collection)
            _ = try Parsed.collection(collection)
        }
    }

    func run() async throws {
        guard file == "-" else { return try await run(URL(fileURLWithPath: file)) }
        // An import examines the beginning and the end of a file first, so it needs a file.
        let copy: URL
        do {
            copy = try await Interruption.value { try StandardInput.copied() }
        } catch {
            CommandOutput(isJSON: store.json).failure(error)
            throw ExitCode((ToolError(describing: error).exit ?? .failed).rawValue)
        }
        defer { StandardInput.discard(copy) }
        try await run(copy)
    }

    private func run(_ source: URL) async throws {
        var settings = DocumentImport.Settings(file: source)
        settings.collection = try collection.map(Parsed.collection)
        settings.idField = idField.map { FieldPath($0) }
        settings.format = format
        settings.isExact = exact
        settings.batchSize = batch
        settings.resumes = resume
        settings.badLines = badLines.map { URL(fileURLWithPath: $0) }
        settings.checkpoint = checkpoint.map { URL(fileURLWithPath: $0) }
        settings.store = store.storage.identity
        settings.storeFiles = store.storage.files
        // Before a store is created.
        try await CommandOutput(isJSON: store.json).reporting {
            try settings.check()
            return .done
        }
        let hasCheckpoint = FileManager.default.fileExists(atPath: settings.checkpointFile.path)
        // The import to be resumed has created the store.
        let access: StoreAccess = resume && hasCheckpoint ? .changing : .creating
        try await store.run(for: access, isQuiet: quiet) { adapter, output in
            if hasCheckpoint, !resume {
                output.message(
                    "An earlier import did not finish; this one starts from the beginning."
                )
            }
            let line = output.progressLine(unit: .bytes)
            defer { line.finish() }
            let importing = DocumentImport(into: adapter, settings)
            let report = try await Interruption.value(advice: interruptionAdvice) {
                try await importing.run { bad in
                    line.clear()
                    output.message(
                        "line \(bad.number): \(bad.reason)",
                        as: BadLine(line: bad.number, reason: Passwords.hidden(in: bad.reason))
                    )
                } onProgress: { progress in
                    line.update(done: progress.bytes, total: progress.size)
                }
            }
            line.finish()
            try write(report, to: output)
            return report.bad == 0 ? .done : .findings
        }
    }

    private var interruptionAdvice: String {
        file == "-"
            ? "The documents imported so far stay; import all of it again to add the rest."
            : "Run it again with --resume to continue."
    }

    private func write(_ report: ImportProgress, to output: CommandOutput) throws {
        guard !store.json else {
            try output.record(
                Summary(
                    imported: report.imported,
                    bad: report.bad,
                    alreadyImported: report.resumedFrom
                )
            )
            return
        }
        var text = "\(report.imported.counted("document")) imported"
        if report.resumedFrom > 0 { text += ", \(report.resumedFrom) of them before" }
        if report.bad > 0 { text += "; \(report.bad.counted("bad line")) left out" }
        try output.line(text)
    }

    private struct BadLine: Encodable {
        let line: Int
        let reason: String
    }

    private struct Summary: Encodable {
        let imported: Int
        let bad: Int
        let alreadyImported: Int
    }
}
