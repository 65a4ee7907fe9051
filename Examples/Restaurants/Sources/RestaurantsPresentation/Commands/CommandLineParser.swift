internal import Foundation
internal import RestaurantsDomain

/// Parses the words of a command line into an ``Invocation``.
public enum CommandLineParser: Sendable {
    /// Parses a command line.
    ///
    /// - Parameter arguments: The words after the program's name.
    /// - Returns: The command and its settings.
    /// - Throws: ``UsageError``, which contains the correct usage.
    public static func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
        var words = CommandLineWords(arguments)
        if words.takeFlag("--help") || words.takeFlag("-h") || arguments.isEmpty {
            return Invocation(.help)
        }
        var invocation = Invocation(.help)
        invocation.store = try words.takeOption("--storage")
        invocation.mirror = try words.takeOption("--mirror")
        invocation.api = try words.takeOption("--api")
        invocation.user = try words.takeOption("--user")
        invocation.isLogged = words.takeFlag("--log")
        invocation.telemetry = try words.takeOption("--telemetry")
        invocation.secrets = try words.takeOption("--secrets")
        invocation.usageServer = try words.takeOption("--usage-server")
        guard let name = words.takeWord() else {
            throw UsageError("There is no command.")
        }
        invocation.command = try command(name, &words)
        try words.finish(after: name)
        return invocation
    }

    private static func command(
        _ name: String,
        _ words: inout CommandLineWords
    ) throws(UsageError) -> Command {
        switch name {
        case "help": .help
        case "refresh": .refresh
        case "list":
            .list(
                RestaurantFilter(
                    borough: try words.takeOption("--borough"),
                    cuisine: try words.takeOption("--cuisine"),
                    limit: try words.takeNumber("--limit") ?? 20
                )
            )
        case "search": .search(try words.takeRest("WORDS", of: "search"))
        case "near":
            .near(
                place: try words.takeOption("--at"),
                limit: try words.takeNumber("--limit") ?? 10
            )
        case "show": .show(try words.takeAll("ID", of: "show"))
        case "favourite", "favorite": .favourite(try words.takeArgument("ID", of: "favourite"))
        case "unfavourite", "unfavorite":
            .unfavourite(try words.takeArgument("ID", of: "unfavourite"))
        case "favourites", "favorites": .favourites
        case "rate": try rate(&words)
        case "watch": .watch(events: try words.takeNumber("--for-events"))
        case "pending": .pending(try decision(&words))
        case "login": .login(email: try words.takeArgument("EMAIL", of: "login"))
        case "logout": .logout
        case "whoami": .whoami
        case "consent": try consent(&words)
        case "usage": .usage
        default:
            throw UsageError("There is no command “\(name)”.", suggestion: suggestion(for: name))
        }
    }

    private static func rate(_ words: inout CommandLineWords) throws(UsageError) -> Command {
        let id = try words.takeArgument("ID", of: "rate")
        let text = try words.takeArgument("STARS", of: "rate")
        guard let stars = Int(text) else {
            throw UsageError(
                "“\(text)” is not a number of stars.",
                suggestion: "Write restaurants rate \(id) 4."
            )
        }
        return .rate(id, stars: stars)
    }

    private static func consent(_ words: inout CommandLineWords) throws(UsageError) -> Command {
        switch try words.takeArgument("yes|no", of: "consent") {
        case "yes": .consent(true)
        case "no": .consent(false)
        case let word:
            throw UsageError(
                "“\(word)” is not a decision.",
                suggestion: "Write restaurants consent yes, or restaurants consent no."
            )
        }
    }

    private static func decision(
        _ words: inout CommandLineWords
    ) throws(UsageError) -> PendingDecision? {
        if let id = try words.takeOption("--retry") { return .retry(id) }
        return try words.takeOption("--discard").map { .discard($0) }
    }

    private static let names = [
        "refresh", "list", "search", "near", "show", "favourite", "unfavourite", "favourites",
        "rate",
        "watch", "pending", "login", "logout", "whoami", "consent", "usage",
    ]

    private static func suggestion(for name: String) -> String {
        let near = names.first {
            $0.hasPrefix(name) || name.hasPrefix($0) || $0.first == name.first
        }
        return near.map { "Did you mean \($0)? See restaurants --help." }
            ?? "The commands are \(names.joined(separator: ", "))."
    }
}
