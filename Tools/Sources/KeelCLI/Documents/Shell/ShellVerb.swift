import ArgumentParser
import KeelDocumentTools
import KeelToolSupport

/// The commands of the shell.
enum ShellVerb: String, CaseIterable {
    case cd, count, delete, exit, explain, get, help, ls, pwd, query, set, update, watch

    /// The command with the same options; nil for a command that only the shell has.
    var command: (any ParsableCommand.Type)? {
        switch self {
        case .count, .explain, .query: QueryCommand.self
        case .delete: DeleteCommand.self
        case .get: GetCommand.self
        case .set, .update: SetCommand.self
        case .watch: WatchCommand.self
        case .cd, .exit, .help, .ls, .pwd: nil
        }
    }

    /// The arguments and the description.
    var summary: (usage: String, abstract: String) {
        switch self {
        case .cd: ("cd [PATH]", "goes to a collection or document; .. is above, / the top")
        case .count: ("count [COLLECTION] [--where …]", "counts documents")
        case .delete:
            ("delete PATH [--recursive]", "deletes a document or a collection; asks first")
        case .exit: ("exit", "leaves, as Control-D does")
        case .explain: ("explain [COLLECTION] [--where …]", "shows how the store answers a query")
        case .get: ("get [DOCUMENT]", "shows a document")
        case .help: ("help [COMMAND]", "shows the commands, or the options of one")
        case .ls: ("ls [PATH] [--all]", "lists collections, or the ids of documents")
        case .pwd: ("pwd", "shows the current path")
        case .query:
            ("query [COLLECTION] [--where …]", "finds documents; --watch follows the result")
        case .set: ("set [DOCUMENT] {…}", "writes a document")
        case .update: ("update [DOCUMENT] {…}", "changes the fields that are named")
        case .watch: ("watch [PATH]", "shows each change until Control-C")
        }
    }

    /// Whether the path must be that of a document (true) or of a collection (false); nil for either.
    var wantsDocument: Bool? {
        switch self {
        case .get, .set, .update: true
        case .count, .explain, .query: false
        case .cd, .delete, .exit, .help, .ls, .pwd, .watch: nil
        }
    }

    /// Returns the equivalent arguments of `keel documents`; in the words, the path comes first.
    ///
    /// The arguments are empty for a command that only the shell has.
    ///
    /// - Throws: `ToolError` if the path is of the wrong kind or missing.
    func arguments(_ words: [String], at place: ShellPath) throws -> [String] {
        var rest = words
        var target: String?
        if let first = rest.first, !first.hasPrefix("-"), !first.hasPrefix("{") {
            target = first
            rest.removeFirst()
        }
        let path = place.resolving(target ?? "")
        switch self {
        case .query: return ["query", try collection(path, target, rest)] + rest
        case .count: return ["query", try collection(path, target, rest), "--count"] + rest
        case .explain: return ["query", try collection(path, target, rest), "--explain"] + rest
        case .get: return ["get", try document(path)] + rest
        case .set: return ["set", try document(path)] + rest
        case .update: return ["set", try document(path), "--merge"] + rest
        case .watch:
            guard path != .top else { throw misplaced("the top cannot be watched") }
            return ["watch", path.string] + rest
        case .delete:
            guard target != nil, path != .top else { throw misplaced("the path is missing") }
            return ["delete", path.string] + rest
        case .cd, .exit, .help, .ls, .pwd: return []
        }
    }

    private func collection(
        _ path: ShellPath,
        _ target: String?,
        _ rest: [String]
    ) throws -> String {
        // A group has only a name, independent of the shell's place.
        if rest.contains("--group"), let target { return target }
        guard path.collection != nil else { throw misplaced("“\(path)” is not a collection") }
        return path.string
    }

    private func document(_ path: ShellPath) throws -> String {
        guard path.document != nil else { throw misplaced("“\(path)” is not a document") }
        return path.string
    }

    private func misplaced(_ message: String) -> ToolError {
        ToolError(
            message,
            advice: "Type “\(summary.usage)” with a path from here or, beginning with /, from the "
                + "top; ls lists what is here."
        )
    }
}
