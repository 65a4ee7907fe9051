import ArgumentParser
import Foundation
import KeelDocumentTools
import KeelStorage
import KeelTerminal
import KeelToolSupport

struct CopyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copies documents from one store to another, and compares them afterwards.",
        discussion: """
            Copies all documents, or the collections named after the stores. Times and revisions \
            are kept if the target can store them. Documents that only the target has stay. \
            Unsent writes in an app's outbox are not copied, and only a copy of all documents counts \
            them, except from a server: run the app with the source until they are sent. The exit \
            code is 2 if the comparison finds a difference, such as by concurrent writes or documents \
            that only the target has, or if documents cannot be read; they are named, and all others \
            are copied. --resume continues an interrupted copy.

                keel documents copy notes.sqlite postgres://keel@127.0.0.1/keel notes
            """,
        aliases: ["cp"]
    )

    @Argument(
        help: "The store to read: a file such as notes.sqlite, or the address of another store.",
        completion: .file()
    )
    var from: DocumentPlace

    @Argument(
        help: "The store to write: a file such as notes.sqlite, or the address of another store.",
        completion: .file()
    )
    var to: DocumentPlace

    @Argument(help: "The collections to copy; all if none is named.")
    var collections: [String] = []

    @Flag(help: "Continues an interrupted copy.")
    var resume = false

    @Option(
        help: "The checkpoint's file; if not given, one in the current folder.",
        completion: .file()
    )
    var checkpoint: String?

    @OptionGroup var database: DatabaseOptions

    @Flag(name: .shortAndLong, help: "Shows no progress.")
    var quiet = false

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    func validate() throws {
        guard !from.isSameStore(as: to) else {
            throw ValidationError("The two stores are the same: type the place of another one.")
        }
        try Parsed.requirePath(checkpoint, of: "--checkpoint")
        for collection in collections { try Parsed.requireNoFile(collection) }
        _ = try collections.map(Parsed.collection)
    }

    func run() async throws {
        let collections = try collections.map(Parsed.collection)
        let output = CommandOutput(isJSON: json, isQuiet: quiet)
        try await output.reporting {
            // Before a store is created.
            try SeparateFiles.refuse(
                checkpointFile,
                over: from.files + to.files,
                advice: "Name another file for --checkpoint."
            )
            // The checkpoint replaces a former one of this copy, and no other file.
            let former = try CopyCheckpoint.read(checkpointFile, of: subject)
            let report = try await from.whileOpen(for: .reading, database) { source in
                try await to.whileOpen(for: .creating, database) { target in
                    let copy = DocumentCopy(
                        from: source.adapter,
                        to: target.adapter,
                        collections: collections
                    )
                    return try await run(copy, from: resume ? former : nil, output)
                }
            }
            try write(report, to: output)
            return report.isVerified ? .done : .findings
        }
    }

    /// The stores and collections, which identify the copy in its checkpoint.
    private var subject: String {
        ([from.identity, to.identity] + collections.sorted()).joined(separator: "\n")
    }

    private var checkpointFile: URL {
        checkpoint.map { URL(fileURLWithPath: $0) }
            ?? DocumentCopy.checkpointFile(
                for: subject,
                in: URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
            )
    }

    private func run(
        _ copy: DocumentCopy,
        from start: CopyCheckpoint?,
        _ output: CommandOutput
    ) async throws -> CopyReport {
        let (subject, file) = (subject, checkpointFile)
        let progress = output.progressLine(unit: .items("documents"))
        defer { progress.finish() }
        return try await Interruption.value(
            advice: "Run it again with --resume to continue."
        ) {
            let total = progress.isDrawn ? try? await copy.documentCount : nil
            return try await copy.run(
                from: start ?? CopyCheckpoint(subject: subject),
                checkpoint: file
            ) {
                progress.update(done: $0, total: total)
            }
        }
    }

    private func write(_ report: CopyReport, to output: CommandOutput) throws {
        guard !json else {
            try output.record(CopyRecord(report))
            return
        }
        let times =
            report.keepsTimes ? "with their times and revisions" : "with times of the target"
        try output.line("\(report.copied.counted("document")) copied, \(times)")
        for document in UnreadableRecord.all(report.unreadable) {
            try output.line("  \(document.path): NOT COPIED, \(document.reason)")
        }
        for comparison in report.comparisons {
            let (source, target) = (comparison.source, comparison.target)
            try output.line(
                comparison.isSame
                    ? "  \(comparison.scope): \(source.count.counted("document")), the same on "
                        + "both sides"
                    : "  \(comparison.scope): DIFFERENT, \(source.count) in the source and "
                        + "\(target.count) in the target"
            )
        }
        if report.outboxWrites > 0 {
            try output.line(
                "  outbox: \(report.outboxWrites.counted("unsent write")) NOT COPIED; run the app "
                    + "with the source until they are sent or discarded"
            )
        }
    }
}

/// The report of a copy for programs.
struct CopyRecord: Encodable {
    struct Comparison: Encodable {
        let scope: String
        let source: Int
        let target: Int
        let isSame: Bool
        let hash: String
    }

    let copied: Int
    let unreadable: [UnreadableRecord]
    let keepsTimes: Bool
    let isVerified: Bool
    let comparisons: [Comparison]
    let outboxWrites: Int

    init(_ report: CopyReport) {
        copied = report.copied
        unreadable = UnreadableRecord.all(report.unreadable)
        keepsTimes = report.keepsTimes
        isVerified = report.isVerified
        outboxWrites = report.outboxWrites
        comparisons = report.comparisons.map { comparison in
            Comparison(
                scope: comparison.scope.description,
                source: comparison.source.count,
                target: comparison.target.count,
                isSame: comparison.isSame,
                hash: comparison.source.hash
            )
        }
    }
}
