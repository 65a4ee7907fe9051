import ArgumentParser
import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStorageFirestore
import KeelTerminal
import KeelToolSupport

struct QueryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Finds documents.",
        discussion: """
            A condition is 'FIELD OPERATOR VALUE' with one of == != < <= > >= in not-in \
            array-contains array-contains-any; several must all hold. A value is JSON (12, 1.5, \
            true, null, "text", [1, 2]), has its kind before it \
            (timestamp:2026-01-01T00:00:00Z, reference:users/ada, bytes:aGk=, \
            geopoint:40.8,-73.9, integer:1, double:1, string:12), or is a bare word, which is a \
            string. __name__ is the document's id. Documents that cannot be read are named at the \
            end, and the exit code is then 2.

            --watch keeps the result up to date until Control-C: at a terminal as a table, elsewhere \
            with a line of JSON for each change.
            """
    )

    @Argument(help: "The collection.")
    var collection: String

    @OptionGroup var store: StoreOptions

    @OptionGroup var past: PastOptions

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "A condition, such as 'stars >= 4'; can be repeated, and all must hold.",
            valueName: "condition"
        )
    )
    var conditions: [String] = []

    @Option(
        name: .customLong("order"),
        help: ArgumentHelp(
            "FIELD, FIELD:asc or FIELD:desc; can be repeated.",
            valueName: "field"
        )
    )
    var orders: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The most documents; if it is not given, 100 for a table, and all for the other forms.",
            valueName: "number"
        )
    )
    var limit: Int?

    @Option(
        name: .customLong("select"),
        help: ArgumentHelp("A field to show; can be repeated.", valueName: "field")
    )
    var fields: [String] = []

    @Flag(help: "Looks in every collection of this name, at any depth.")
    var group = false

    @Flag(help: "Shows only the number of documents.")
    var count = false

    @Flag(help: "Shows how the store answered the query.")
    var explain = false

    @Flag(help: "Writes ordinary JSON, one document per line.")
    var plain = false

    @Flag(help: "Follows the result, and shows each change.")
    var watch = false

    @OptionGroup var table: TableOptions

    func validate() throws {
        guard !watch || (!explain && past.asOf == nil) else {
            throw ValidationError(
                "--watch shows the present, without --explain and --as-of: leave them out."
            )
        }
        if let limit, limit < 1 { throw ValidationError("--limit is at least 1.") }
        _ = try query()
    }

    func run() async throws {
        let query = try query()
        try await store.run(for: .reading) { adapter, output in
            let client = try past.client(adapter)
            guard !watch else {
                let watch = QueryWatch(
                    client: client,
                    query: query,
                    isGroup: group,
                    table: table,
                    line: ExportLine(isPlain: plain && !store.json),
                    output: CommandOutput(isJSON: store.json || plain)
                )
                try await count ? watch.showCount() : watch.showDocuments()
                return .done
            }
            if count {
                let number = try await client.count(query)
                try output.line(store.json ? #"{"count":\#(number)}"# : "\(number)")
            } else if explain {
                try Self.write(try await client.run(query), asJSON: store.json, to: output)
            } else if store.json || plain {
                var report = ExportReport()
                var pages = DocumentPages(client, of: query)
                let line = ExportLine(isPlain: plain && !store.json)
                while let page = try await pages.next() {
                    report.note(page.unreadable)
                    for document in page.documents {
                        if let text = report.line(line, of: document) { try output.line(text) }
                    }
                }
                return output.unreadable(report.unreadable.values)
            } else {
                let report = try await writeTable(query, from: client, to: output)
                return output.unreadable(report.unreadable.values)
            }
            return .done
        }
    }

    private func query() throws -> DocumentQuery {
        var query = try Parsed.scope(collection, isGroup: group).query
        for condition in conditions { query = query.where(try Parsed.filter(condition)) }
        for order in orders { query.orders.append(try Parsed.order(order)) }
        query.limit = limit.map { .first($0) }
        if !fields.isEmpty { query.projection = fields.map { FieldPath($0) } }
        return query
    }

    /// - Returns: A report with the unreadable documents.
    private func writeTable(
        _ query: DocumentQuery,
        from client: StorageClient,
        to output: CommandOutput
    ) async throws -> ExportReport {
        let most = limit ?? 100
        // Without a limit, one more document than shown, to determine whether there are more.
        var pages = DocumentPages(client, of: query.limit(to: limit ?? most + 1))
        var (documents, report) = ([Document](), ExportReport())
        while let page = try await pages.next() {
            report.note(page.unreadable)
            documents += page.documents.filter { report.line(ExportLine(), of: $0) != nil }
        }
        if documents.isEmpty, report.unreadable.isEmpty {
            try output.line("no documents")
            return report
        }
        let hasMore = documents.count > most
        if hasMore { documents.removeLast() }
        let table = try DocumentTable(
            documents,
            columns: query.projection,
            showsPaths: group
        )
        let (lines, hidden) = table.lines(width: self.table.width)
        for line in lines { try output.line(line) }
        if hidden > 0 {
            output.message(
                """
                \(hidden.counted("more column")); --wide shows all, and --select NAME chooses some.
                """
            )
        }
        if hasMore {
            output.message("There are more than \(most); --limit shows another number.")
        }
        return report
    }

    private static func write(
        _ result: QueryResult,
        asJSON isJSON: Bool,
        to output: CommandOutput
    ) throws {
        let plan = result.plan
        let access =
            switch plan?.access {
            case .index(let name): "index \(name)"
            case .identifiers: "identifiers"
            case .search(let name): "search \(name)"
            case .scan: "scan"
            case nil: "unknown"
            }
        let explanation = Explanation(
            found: result.documents.count,
            access: access,
            examined: plan?.examined,
            suggestion: plan?.suggestion?.description
        )
        guard !isJSON else { return try output.record(explanation) }
        try output.line("found     \(explanation.found)")
        try output.line("access    \(access)")
        if let examined = explanation.examined { try output.line("examined  \(examined)") }
        if let index = explanation.suggestion { try output.line("declare   \(index)") }
    }

    private struct Explanation: Encodable {
        let found: Int
        let access: String
        let examined: Int?
        let suggestion: String?
    }
}

/// The option of commands that write tables.
struct TableOptions: ParsableArguments {
    @Flag(help: "Shows values in full, also beyond the width of the terminal.")
    var wide = false

    /// The maximum number of columns of a line; nil for no limit.
    var width: Int? {
        guard !wide, isatty(STDOUT_FILENO) == 1 else { return nil }
        return TerminalSize(of: STDOUT_FILENO).columns
    }
}
