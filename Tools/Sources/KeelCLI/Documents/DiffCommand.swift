import ArgumentParser
import KeelDocumentTools
import KeelStorage
import KeelTerminal
import KeelToolSupport

struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compares the documents of two stores.",
        discussion: """
            Compares everything, or the collections named after the stores, without those below \
            their documents. Times and revisions do not count.

            The exit code is 0 if the documents are the same, 1 if they differ, and 2 after a failure \
            or if documents cannot be read, as with diff and cmp.
            """
    )

    @Argument(
        help: "The store to compare: a file such as notes.sqlite, or the address of another store.",
        completion: .file()
    )
    var first: DocumentPlace

    @Argument(
        help: "The store to compare it with: a file, or the address of another store.",
        completion: .file()
    )
    var second: DocumentPlace

    @Argument(help: "The collections to compare; all if none is named.")
    var collections: [String] = []

    @Flag(help: "Includes every collection of these names, at any depth.")
    var group = false

    @OptionGroup var database: DatabaseOptions

    @Flag(name: .shortAndLong, help: "Shows no progress.")
    var quiet = false

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    func validate() throws {
        guard !first.isSameStore(as: second) else {
            throw ValidationError("The two stores are the same: type the place of another one.")
        }
        guard !group || !collections.isEmpty else {
            throw ValidationError("--group needs a collection: type its name after the stores.")
        }
        for collection in collections { try Parsed.requireNoFile(collection) }
        _ = try scopes()
    }

    private func scopes() throws -> [DocumentScope] {
        try collections.map { try Parsed.scope($0, isGroup: group) }
    }

    func run() async throws {
        let scopes = try scopes()
        let output = CommandOutput(isJSON: json, isQuiet: quiet)
        // Exit code 1 means that the stores differ.
        try await output.reporting(failure: .findings) {
            let report = try await first.whileOpen(for: .reading, database) { one in
                try await second.whileOpen(for: .reading, database) { other in
                    let comparison = DocumentComparison(one.adapter, other.adapter, scopes: scopes)
                    return try await run(comparison, output)
                }
            }
            try write(report, to: output)
            if report.unreadable > 0 { return .findings }
            return report.isSame ? .done : .failed
        }
    }

    private func run(
        _ comparison: DocumentComparison,
        _ output: CommandOutput
    ) async throws -> ComparisonReport {
        let line = output.progressLine(unit: .items("documents"))
        defer { line.finish() }
        let command = self
        return try await Interruption.value {
            try await comparison.run { difference in
                line.clear()
                try command.write(difference, to: output)
            } onProgress: { count in
                line.update(done: count)
            }
        }
    }

    private func write(_ difference: DocumentDifference, to output: CommandOutput) throws {
        switch difference {
        case .onlyInFirst(let path):
            try write("onlyInFirst", "only in \(first)", path, nil, to: output)
        case .onlyInSecond(let path):
            try write("onlyInSecond", "only in \(second)", path, nil, to: output)
        case .fields(let path, let fields):
            try write("fields", "different", path, fields.map(\.description), to: output)
        case .unreadable(let document, let isInFirst):
            let store = isInFirst ? first : second
            output.failure(document.error, about: "\(document.path) in \(store)")
        }
    }

    private func write(
        _ kind: String,
        _ text: String,
        _ path: DocumentPath,
        _ fields: [String]?,
        to output: CommandOutput
    ) throws {
        guard !json else {
            let record = DifferenceRecord(difference: kind, path: path.string, fields: fields)
            return try output.record(record)
        }
        let names = fields.map { ": \($0.joined(separator: ", "))" } ?? ""
        try output.line("\(text)  \(path)\(names)")
    }

    private func write(_ report: ComparisonReport, to output: CommandOutput) throws {
        guard !json else { return try output.record(ReportRecord(report)) }
        guard !report.isSame || report.unreadable > 0 else {
            return try output.line("\(report.same.counted("document")), the same in both")
        }
        let unreadable = report.unreadable > 0 ? ", \(report.unreadable) cannot be read" : ""
        try output.line(
            """
            \(report.same.counted("document is", "documents are")) the same, \
            \(report.different.counted("differs", "differ")), \
            \(report.onlyInFirst.counted("is", "are")) only in \(first), \
            \(report.onlyInSecond) only in \(second)\(unreadable)
            """
        )
    }

    private struct DifferenceRecord: Encodable {
        let difference: String
        let path: String
        let fields: [String]?
    }

    private struct ReportRecord: Encodable {
        let same: Int
        let different: Int
        let onlyInFirst: Int
        let onlyInSecond: Int
        let unreadable: Int

        init(_ report: ComparisonReport) {
            same = report.same
            different = report.different
            onlyInFirst = report.onlyInFirst
            onlyInSecond = report.onlyInSecond
            unreadable = report.unreadable
        }
    }
}
