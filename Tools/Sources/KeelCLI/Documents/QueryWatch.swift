import Foundation
import KeelDocumentTools
import KeelStorage
import KeelTerminal
import KeelToolSupport
import Synchronization

/// Shows the result of a query until a signal arrives: redrawn on a terminal, otherwise as one line of JSON per change.
struct QueryWatch {
    let client: StorageClient
    let query: DocumentQuery
    let isGroup: Bool
    let table: TableOptions
    let line: ExportLine
    let output: CommandOutput

    private var isLive: Bool { !output.isJSON && isatty(STDOUT_FILENO) == 1 }

    func showDocuments() async throws {
        guard isLive else {
            let changes = ChangeLine(output: output, isJSON: true, document: line)
            return try await Interruption.wait {
                var failures: [UnreadableDocument] = []
                var outage = OutageNote(output)
                for try await snapshot in client.listen(to: query) {
                    outage.show(snapshot.isFromCache)
                    try changes.write(snapshot, known: failures, fields: query.projection)
                    failures = snapshot.failures
                }
            }
        }
        let most = if case .first(let limit) = query.limit { limit } else { 100 }
        // One more document than shown, to determine whether there are more.
        let listened = query.limit == nil ? query.limit(to: most + 1) : query
        let fields = query.projection
        try await draw { show in
            for try await snapshot in client.listen(to: listened) {
                let shown = Array(snapshot.documents.prefix(most))
                let made = try DocumentTable(shown, columns: fields, showsPaths: isGroup)
                let more = snapshot.documents.count > most ? "the first " : ""
                var status = "\(more)\(shown.count.counted("document"))"
                if !snapshot.failures.isEmpty {
                    status += ", \(snapshot.failures.count) cannot be read"
                }
                if snapshot.isFromCache { status += ", not connected" }
                let text = status
                show { width in
                    (text, made.lines(width: table.wide ? nil : width).lines)
                }
            }
        }
    }

    func showCount() async throws {
        guard isLive else {
            return try await Interruption.wait {
                for try await values in client.observe(query, [.count()]) {
                    try output.line(#"{"count":\#(values.first?.integerValue ?? 0)}"#)
                }
            }
        }
        try await draw { show in
            for try await values in client.observe(query, [.count()]) {
                let count = "\(values.first?.integerValue ?? 0)"
                show { _ in ("\(query.scope)", [count]) }
            }
        }
    }

    /// Returns the content for a width: a status, and the lines that remain at the end.
    private typealias Picture = @Sendable (_ width: Int?) -> (status: String, lines: [String])

    /// Draws pictures until a signal arrives, and leaves the last one in the terminal.
    private func draw(
        _ body: @escaping @Sendable (@Sendable (@escaping Picture) -> Void) async throws -> Void
    ) async throws {
        let last = Mutex<Picture?>(nil)
        let screen = LiveScreen()
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await Interruption.wait {
                    try await body { picture in
                        last.withLock { $0 = picture }
                        screen.show { size in
                            let (status, lines) = picture(size.columns)
                            return ["\(status) · \(Self.time) · Control-C ends"] + lines
                        }
                    }
                }
            )
        } catch {
            result = .failure(error)
        }
        screen.close()
        for line in last.withLock({ $0 })?(table.width).lines ?? [] { try output.line(line) }
        try result.get()
    }

    /// The time of day, in UTC.
    private static var time: String {
        Date().formatted(.iso8601.time(includingFractionalSeconds: false)) + "Z"
    }
}
