import ArgumentParser
import Foundation
import KeelDocumentTools
import KeelStorage
import KeelTerminal
import KeelToolSupport

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes the documents of a collection as lines of JSON.",
        discussion: """
            Lines are documents in Firestore's typed form, which import reads without loss; --plain \
            writes ordinary JSON, which loses the types that JSON does not have. A file appears when \
            it is complete. If the store has a change log, the file is the state of the store at one \
            point in time. Documents that cannot be read are named at the end, and the exit code is \
            2; all others are written.
            """
    )

    @Argument(help: "The collection.")
    var collection: String

    @OptionGroup var store: StoreOptions

    @OptionGroup var past: PastOptions

    @Flag(help: "Includes every collection of this name, at any depth.")
    var group = false

    @Flag(help: "Writes ordinary JSON.")
    var plain = false

    @Option(
        name: .customLong("id"),
        help: ArgumentHelp(
            "With --plain, the field for the document's id.",
            valueName: "field"
        )
    )
    var idField: String?

    @Option(
        name: .shortAndLong,
        help: "The file; without one, or with -, standard output.",
        completion: .file()
    )
    var output: String?

    @Flag(name: .shortAndLong, help: "Shows no progress.")
    var quiet = false

    func validate() throws { _ = try Parsed.scope(collection, isGroup: group) }

    func run() async throws {
        let scope = try Parsed.scope(collection, isGroup: group)
        let line = ExportLine(isPlain: plain, idField: idField.map { FieldPath($0) })
        try await store.run(for: .reading, isQuiet: quiet) { adapter, out in
            let export = DocumentExport(from: adapter, scope, as: line, asOf: try past.time)
            guard let output, output != "-" else {
                let progress = out.progressLine(unit: .items("documents"), writesData: true)
                defer { progress.finish() }
                var count = 0
                let report = try await export.run { text in
                    try out.line(text)
                    count += 1
                    progress.update(done: count)
                }
                progress.finish()
                if let remark = Self.remark(report) { out.message(remark) }
                return out.unreadable(report.unreadable.values)
            }
            let progress = out.progressLine(unit: .items("documents"))
            defer { progress.finish() }
            let (file, client) = (URL(fileURLWithPath: output), try past.client(adapter))
            try SeparateFiles.refuse(
                file,
                over: store.storage.files,
                advice: "Name another file for --output."
            )
            let report = try await Interruption.value {
                // A total that is not known keeps nothing from being written.
                let total = progress.isDrawn ? try? await client.count(scope.query) : nil
                return try await export.run(to: file) { progress.update(done: $0, total: total) }
            }
            progress.finish()
            try Self.write(report, asJSON: store.json, to: out)
            return out.unreadable(report.unreadable.values)
        }
    }

    private static func write(
        _ report: ExportReport,
        asJSON isJSON: Bool,
        to output: CommandOutput
    ) throws {
        guard !isJSON else {
            try output.record(
                Summary(
                    documents: report.documents,
                    consistency: report.consistency.rawValue,
                    unreadable: UnreadableRecord.all(report.unreadable.values)
                )
            )
            return
        }
        try output.line("\(report.documents.counted("document")) exported")
        if let remark = remark(report) { output.message(remark) }
    }

    private static func remark(_ report: ExportReport) -> String? {
        switch report.consistency {
        case .snapshot: nil
        case .mixed:
            "\(report.changed.counted("document")) changed during the export, so it is not one state "
                + "of the store. With --output it is."
        case .unknown:
            "It is not known whether documents changed while they were read."
        }
    }

    private struct Summary: Encodable {
        let documents: Int
        let consistency: String
        let unreadable: [UnreadableRecord]
    }
}
