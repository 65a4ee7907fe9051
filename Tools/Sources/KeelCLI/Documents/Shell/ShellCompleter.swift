import ArgumentParser
import KeelDocumentTools
import KeelTerminal

/// Completes the words of the shell: commands, options, paths and fields.
struct ShellCompleter: Sendable {
    /// The names in the store; nil if the store could not be opened.
    let names: StoreNames?
    let place: ShellPath

    /// Returns the completions of the word before the cursor.
    func completion(_ before: String) async -> LineCompletion {
        let words = ShellWords(before)
        guard !words.isIncomplete else { return .none }
        guard let first = words.words.first else {
            return choice(of: ShellVerb.allCases.map(\.rawValue), words)
        }
        guard let verb = ShellVerb(rawValue: first) else { return .none }
        if verb == .help { return choice(of: ShellVerb.allCases.map(\.rawValue), words) }
        if words.last.hasPrefix("-") { return choice(of: options(of: verb), words) }
        if words.words.count == 1 { return await path(verb, words) }
        guard verb.command == QueryCommand.self, let option = words.words.last,
            ["--where", "--order", "--select"].contains(option)
        else { return .none }
        return await field(option, words)
    }

    private func choice(of all: [String], _ words: ShellWords) -> LineCompletion {
        LineCompletion(
            replaced: words.lastCount,
            candidates: all.filter { $0.hasPrefix(words.last) }.map { .init($0) }
        )
    }

    /// The options in the help of a command.
    private func options(of verb: ShellVerb) -> [String] {
        guard let command = verb.command else { return verb == .ls ? ["--all"] : [] }
        let help = KeelCommand.helpMessage(for: command)
        let known: Set = [
            "--storage", "--unverified-database", "--json", "--version", "--help",
        ]
        return Set(help.matches(of: #/--[a-z]+(?:-[a-z]+)*/#).map { String($0.output) })
            .subtracting(known).sorted()
    }

    private func path(_ verb: ShellVerb, _ words: ShellWords) async -> LineCompletion {
        let above = words.last.lastIndex(of: "/").map { String(words.last[...$0]) } ?? ""
        let folder = place.resolving(above)
        let prefix = String(words.last.dropFirst(above.count))
        guard let found = try? await names?.names(in: folder, beginningWith: prefix) else {
            return .none
        }
        let isDocument = folder.collection != nil
        // A path that is not yet of the required kind continues with a slash.
        let end = verb.wantsDocument == isDocument ? " " : "/"
        let quote = words.openQuote.map { String($0) } ?? ""
        return LineCompletion(
            replaced: words.lastCount,
            candidates: found.prefix(StoreNames.most).map { name in
                let path = above + name
                return .init(
                    quote.isEmpty ? ShellWords.escaped(path) : quote + path,
                    end: end,
                    label: end == "/" ? name + "/" : name
                )
            },
            hasMore: found.count > StoreNames.most
        )
    }

    private func field(_ option: String, _ words: ShellWords) async -> LineCompletion {
        // The operator and value follow the field of a condition.
        guard !words.last.contains(where: \.isWhitespace) else { return .none }
        let target = words.words.dropFirst().first.flatMap { $0.hasPrefix("-") ? nil : $0 }
        guard let collection = place.resolving(target ?? "").collection,
            let all = try? await names?.fields(of: collection)
        else { return .none }
        // A condition contains spaces.
        let isQuoted = option == "--where" || words.openQuote != nil
        let quote = isQuoted ? words.openQuote.map { String($0) } ?? "'" : ""
        return LineCompletion(
            replaced: words.lastCount,
            candidates: all.filter { $0.hasPrefix(words.last) }.prefix(StoreNames.most).map {
                .init(quote + $0, end: " ", label: $0)
            }
        )
    }
}
