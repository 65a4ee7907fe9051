import RestaurantsDomain
import Testing

@testable import RestaurantsPresentation

@Suite("The command line")
struct CommandLineTests {
    @Test(
        "Commands are parsed with their options in any position",
        arguments: [
            ("refresh", .refresh), ("favourites", .favourites), ("favorites", .favourites),
            ("list", .list(RestaurantFilter(limit: 20))),
            (
                "list --limit=5 --borough Bronx",
                .list(RestaurantFilter(borough: "Bronx", limit: 5))
            ),
            ("search fish and chips", .search("fish and chips")),
            ("near", .near(place: nil, limit: 10)),
            ("near --at 51.2,-3.4 --limit 3", .near(place: "51.2,-3.4", limit: 3)),
            ("show r-1", .show(["r-1"])), ("favourite r-1", .favourite("r-1")),
            ("unfavourite r-1", .unfavourite("r-1")), ("rate r-1 4", .rate("r-1", stars: 4)),
            ("watch", .watch(events: nil)), ("watch --for-events 2", .watch(events: 2)),
            ("show r-1 r-2", .show(["r-1", "r-2"])), ("logout", .logout), ("whoami", .whoami),
            ("login ada@example.com", .login(email: "ada@example.com")), ("usage", .usage),
            ("consent yes", .consent(true)), ("consent no", .consent(false)),
            ("pending", .pending(nil)), ("pending --retry a1", .pending(.retry("a1"))),
            ("pending --discard a1", .pending(.discard("a1"))), ("list --help", .help), ("", .help),
        ] as [(String, Command)]
    )
    func understood(_ line: String, _ command: Command) throws {
        let words = line.split(separator: " ").map(String.init)
        #expect(try CommandLineParser.parse(words).command == command)
    }

    @Test("Options set the store, its mirror, the service and the user, and enable logging")
    func settings() throws {
        let words = [
            "--user", "ada", "refresh", "--storage", "/tmp/x", "--mirror", "postgres://h/x",
            "--api=http://h", "--log",
        ]
        #expect(
            try CommandLineParser.parse(words)
                == Invocation(
                    .refresh,
                    store: "/tmp/x",
                    mirror: "postgres://h/x",
                    api: "http://h",
                    user: "ada",
                    isLogged: true
                )
        )
    }

    @Test(
        "Invalid input is named, with advice",
        arguments: [
            ("lost", "There is no command “lost”."),
            ("list extra", "list does not take the word “extra”."),
            ("refresh --limit 3", "refresh does not take the option “--limit”."),
            ("list --limit none", "“none” is not a number for --limit."),
            ("list --borough", "--borough needs a value after it."),
            ("rate r-1", "rate needs STARS."),
            ("rate r-1 four", "“four” is not a number of stars."),
            ("login", "login needs EMAIL."),
            ("search", "search needs WORDS."), ("--user ada", "There is no command."),
        ]
    )
    func notUnderstood(_ line: String, _ message: String) {
        let words = line.split(separator: " ").map(String.init)
        let error = #expect(throws: UsageError.self) { try CommandLineParser.parse(words) }
        #expect(error?.message == message)
        #expect(error?.suggestion.isEmpty == false)
    }
}
