import ArgumentParser
import Foundation
import KeelDocumentTools
import KeelStorage
import KeelTerminal
import KeelToolSupport

/// Runs the lines of a shell.
struct DocumentShell: Sendable {
    enum Outcome: Hashable {
        /// The exit code of the command.
        case code(Int32)
        case leave
    }

    let store: DocumentPlace
    let database: DatabaseOptions
    let output: CommandOutput
    private(set) var place = ShellPath.top

    init(_ store: DocumentPlace, _ database: DatabaseOptions, output: CommandOutput) {
        self.store = store
        self.database = database
        self.output = output
    }

    /// Runs a line, and writes its error.
    mutating func run(_ line: String) async -> Outcome {
        do {
            guard let words = ShellWords(line).all else {
                throw ToolError(
                    "a quote, a brace or a backslash at the end is open",
                    advice: "Close it, or put a backslash before it."
                )
            }
            guard let first = words.first, !first.hasPrefix("#") else { return .code(0) }
            guard first != "quit" else { return .leave }
            guard let verb = ShellVerb(rawValue: first) else {
                throw Self.unknown(first)
            }
            return try await run(verb, Array(words.dropFirst()))
        } catch is CancellationError {
            // Control-C at a question does not end its line.
            if !output.isJSON { output.message("") }
            return .code(ToolExit.failed.rawValue)
        } catch {
            output.failure(error)
            return .code(ToolExit.failed.rawValue)
        }
    }

    private mutating func run(_ verb: ShellVerb, _ words: [String]) async throws -> Outcome {
        switch verb {
        case .exit: return .leave
        case .pwd: try show(place, place.description)
        case .cd:
            try expect(words, atMost: 1, verb)
            place = words.first.map { place.resolving($0) } ?? .top
        case .help: try help(words)
        case .ls: try await list(words)
        case .delete where !Self.isGiven("--yes", "y", in: words):
            let arguments = try verb.arguments(words, at: place)
            let path = place.resolving(words.first ?? "")
            let what = DeleteCommand.subject(
                path.description,
                isCollection: path.collection != nil,
                isRecursive: Self.isGiven("--recursive", "r", in: words)
            )
            try Confirmation.ask(
                "Delete \(what)?",
                advice: "Answer y, or add --yes to delete \(what) without a question."
            )
            return .code(await execute(arguments + ["--yes"]))
        case .count, .delete, .explain, .get, .query, .set, .update, .watch:
            return .code(await execute(try verb.arguments(words, at: place)))
        }
        return .code(0)
    }

    /// Returns whether a flag is among the words, its letter also among others, as in -ry.
    private static func isGiven(_ name: String, _ letter: Character, in words: [String]) -> Bool {
        words.contains { word in
            word == name
                || word.hasPrefix("-") && !word.hasPrefix("--") && word.contains(letter)
        }
    }

    private func execute(_ arguments: [String]) async -> Int32 {
        let shared =
            ["--storage", store.argument] + (output.isJSON ? ["--json"] : [])
            + (database.unverifiedDatabase ? ["--unverified-database"] : [])
        do {
            var command = try await KeelCommand.asyncParseAsRoot(
                ["documents"] + arguments + shared
            )
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return 0
        } catch let code as ExitCode {
            // The command has written its error.
            return code.rawValue
        } catch {
            let code = KeelCommand.exitCode(for: error)
            let message = KeelCommand.message(for: error)
            if code == .success {
                try? output.line(message)
            } else {
                let name = arguments.first == "query" ? "query" : arguments.first ?? ""
                output.failure(ToolError(message, advice: "Type help \(name) to see its options."))
            }
            return code.rawValue
        }
    }

    private func expect(_ words: [String], atMost count: Int, _ verb: ShellVerb) throws {
        guard words.count > count else { return }
        throw ToolError(
            "there is more than “\(verb.summary.usage)” takes",
            advice: "Put a path with spaces into quotes."
        )
    }

    private static func unknown(_ name: String) -> ToolError {
        let nearest = Spelling.nearest(to: name, of: ShellVerb.allCases.map(\.rawValue))
        return ToolError(
            "there is no command “\(name)”",
            advice: nearest.map { "Type \($0), or help to see the commands." }
                ?? "Type help to see the commands."
        )
    }

    private func help(_ words: [String]) throws {
        guard let name = words.first else {
            let width = ShellVerb.allCases.map(\.summary.usage.count).max() ?? 0
            for verb in ShellVerb.allCases {
                let (usage, abstract) = verb.summary
                try output.line("\(TextWidth.padded(usage, to: width))  \(abstract)")
            }
            return
        }
        guard let verb = ShellVerb(rawValue: name) else {
            throw Self.unknown(name)
        }
        try output.line("\(verb.summary.usage): \(verb.summary.abstract)")
        if let command = verb.command { try output.line(KeelCommand.helpMessage(for: command)) }
    }

    private func list(_ words: [String]) async throws {
        let paths = words.filter { $0 != "--all" }
        try expect(paths, atMost: 1, .ls)
        let path = place.resolving(paths.first ?? "")
        let isComplete = words.contains("--all")
        try await store.whileOpen(for: .reading, database) { opened in
            try await list(path, isComplete, StorageClient(opened.adapter))
        }
    }

    private func list(
        _ path: ShellPath,
        _ isComplete: Bool,
        _ client: StorageClient
    ) async throws {
        guard let collection = path.collection else {
            for name in try await client.collections(under: path.document) {
                try show(path.resolving(name), name + "/")
            }
            return
        }
        var query = DocumentQuery(collection).order(by: .documentID)
        query.projection = []
        let most = 100
        var count = 0
        var pages = DocumentPages(client, of: isComplete ? query : query.limit(to: most + 1))
        while let page = try await pages.next() {
            try Task.checkCancellation()
            for found in page.documents.map(\.path) + page.unreadable.map(\.path) {
                count += 1
                guard isComplete || count <= most else {
                    output.message("There are more than \(most); ls --all lists every one.")
                    return
                }
                try show(path.resolving(found.id), found.id)
            }
        }
    }

    private func show(_ path: ShellPath, _ name: String) throws {
        guard !output.isJSON else { return try output.record(["path": path.string]) }
        try output.line(TextWidth.harmless(name))
    }
}
