/// An option of a command that a file or a variable can give.
package struct Setting: Hashable, Sendable {
    /// The kind of the option's value.
    package enum Kind: Hashable, Sendable {
        /// One value.
        case value
        /// Values; the option can be repeated.
        case list
        /// Nothing: it is there or not.
        case flag
    }

    /// The command, which is also the table of the file.
    package let command: String
    /// The commands below it that have the option; none where it has no commands below it.
    package let subcommands: [String]
    /// The option, without its dashes.
    package let option: String
    package let kind: Kind

    /// The variable that gives it.
    package var variable: String {
        "KEEL_" + option.uppercased().replacing("-", with: "_")
    }

    private init(
        _ command: String,
        _ option: String,
        _ kind: Kind = .value,
        below subcommands: [String] = []
    ) {
        self.command = command
        self.subcommands = subcommands
        self.option = option
        self.kind = kind
    }

    /// Every setting, by command.
    ///
    /// A command takes part by its lines here; its options stay as they are.
    package static let all: [Setting] = documents + doctor + serve + proxy

    private static let documents = [
        Setting(
            "documents",
            "store",
            below: ["delete", "export", "get", "import", "query", "set", "shell", "watch"]
        )
    ]

    private static let doctor = ["store", "files", "server"].map { Setting("doctor", $0, .list) }

    private static let serve =
        [
            "storage", "history", "durability", "host", "port", "max-body", "request-timeout",
            "max-listeners", "max-connections", "logs", "analytics", "grace", "log-level",
            "keep-changes", "keep-changes-size", "keep-removals", "keep-removals-size",
        ].map { Setting("serve", $0) } + [Setting("serve", "unverified-database", .flag)]

    private static let proxy = [
        Setting("proxy", "origin"), Setting("proxy", "port"), Setting("proxy", "folder"),
        Setting("proxy", "megabytes"), Setting("proxy", "shared", .flag),
        Setting("proxy", "stale-if-error"), Setting("proxy", "stale-if-offline"),
        Setting("proxy", "no-status", .flag),
    ]

    /// The variables that hold secrets, which a file must not.
    package static let secretVariables = ["KEEL_TOKEN"]
}
