/// An option of a command that a file or a variable can give.
package struct Setting: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case value
        /// Values; the option can be repeated.
        case list
        /// None: the option is present or absent.
        case flag
    }

    /// The command, which is also the table of the file.
    package let command: String
    /// The option, without its dashes.
    package let option: String
    package let kind: Kind
    /// The subcommands that take it; empty for all that have the option.
    package let subcommands: [String]
    /// The alternative options, which replace this one if they are on the command line or have a higher precedence.
    package let alternatives: Set<String>
    /// The option without which this one has no effect.
    package let companion: String?
    /// Whether the setting has a variable of its own, and is only in the command's table.
    package let isOwn: Bool
    /// The variables of other tools that the command uses if the option is not given, in their order.
    package let foreignVariables: [String]

    package var variable: String {
        let name = isOwn ? "\(command)-\(option)" : option
        return "KEEL_" + name.uppercased().replacing("-", with: "_")
    }

    /// The keys in a file.
    package var keys: [[String]] { [[command, option]] + (isOwn ? [] : [[option]]) }

    private init(
        _ command: String,
        _ option: String,
        _ kind: Kind = .value,
        below subcommands: [String] = [],
        instead alternatives: Set<String> = [],
        with companion: String? = nil,
        isOwn: Bool = false,
        otherwise foreignVariables: [String] = []
    ) {
        self.command = command
        self.option = option
        self.kind = kind
        self.subcommands = subcommands
        self.alternatives = alternatives.subtracting([option])
        self.companion = companion
        self.isOwn = isOwn
        self.foreignVariables = foreignVariables
    }

    /// Every setting, by command.
    package static let all: [Setting] =
        documents + doctor + serve + proxy + files + secrets + keyset + encrypt + decrypt + logs
        + analytics + storage

    // With --swift, the code of indexes is written without a store.
    private static let documents = [
        Setting("documents", "storage", instead: ["swift"]),
        Setting("documents", "unverified-database", .flag),
    ]

    private static let files =
        [
            Setting("files", "endpoint", otherwise: ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]),
            Setting("files", "region", otherwise: ["AWS_REGION", "AWS_DEFAULT_REGION"]),
            Setting("files", "path-style", .flag),
        ]
        + ["provider", "aws-profile", "part-size", "parallel", "transfers", "limit-rate"].map {
            Setting("files", $0)
        }

    private static let secrets =
        [Setting("secrets", "service"), Setting("secrets", "store", isOwn: true)]
        + ["key-file", "key-variable", "key-credential"].map {
            Setting("secrets", $0, instead: keySources.union(passphrases))
        }

    // Not for "public", which makes something else of a keyset than of a key.
    private static let keyset =
        [
            Setting("keyset", "keyset"),
            Setting("keyset", "keyset-context", below: keysetCommands),
        ]
        + keySources.sorted().map {
            Setting("keyset", $0, below: keysetCommands, instead: keySources)
        }

    private static let keysetCommands = [
        "create", "list", "rotate", "enable", "disable", "destroy", "reencrypt", "rewrap",
    ]

    private static let encrypt =
        ["recipient", "recipients-file"].map {
            Setting("encrypt", $0, .list, instead: recipients.union(passphrases).union(["keyset"]))
        } + keysetOptions(of: "encrypt", instead: recipients.union(passphrases))

    private static let decrypt =
        [Setting("decrypt", "identity", .list, instead: ["keyset"])]
        + keysetOptions(of: "decrypt", instead: passphrases.union(["identity"]))

    private static let logs = keysetOptions(of: "logs")
    private static let analytics = keysetOptions(of: "analytics", below: ["top"])
    private static let storage = [
        Setting("storage", "storage"), Setting("storage", "unverified-database", .flag),
    ]

    /// The sources of the key of a keyset or of secrets.
    private static let keySources: Set = [
        "key-file", "key-variable", "key-credential", "key-service",
    ]

    private static let recipients: Set = ["recipient", "recipients-file"]

    private static let passphrases: Set = [
        "passphrase", "passphrase-descriptor", "passphrase-variable",
    ]

    /// The options for an optional keyset.
    private static func keysetOptions(
        of command: String,
        below subcommands: [String] = [],
        instead alternatives: Set<String> = []
    ) -> [Setting] {
        [
            Setting(command, "keyset", below: subcommands, instead: alternatives),
            Setting(command, "keyset-context", below: subcommands, with: "keyset"),
        ]
            + keySources.sorted().map {
                Setting(
                    command,
                    $0,
                    below: subcommands,
                    instead: keySources,
                    with: "keyset"
                )
            }
    }

    private static let doctor =
        ["storage", "files", "server"].map { Setting("doctor", $0, .list) }
        + [Setting("doctor", "unverified-database", .flag)]

    private static let serve =
        [
            "storage", "history", "durability", "host", "port", "max-body", "request-timeout",
            "max-listeners", "max-caller-listeners", "max-connections", "logs", "analytics",
            "drain", "grace", "log-level", "keep-changes", "keep-changes-size", "keep-removals",
            "keep-removals-size", "keep-receipts", "database-readers", "tokens", "tls-certificate",
            "tls-key", "indexes", "index-mode",
        ].map { Setting("serve", $0) }
        + ["database", "allow-host", "allow-origin"].map { Setting("serve", $0, .list) }
        + [
            Setting("serve", "name", isOwn: true),
            Setting("serve", "unverified-database", .flag),
        ]

    private static let proxy = [
        Setting("proxy", "origin"), Setting("proxy", "port"), Setting("proxy", "folder"),
        Setting("proxy", "megabytes"), Setting("proxy", "private", .flag),
        Setting("proxy", "stale-if-error"), Setting("proxy", "stale-if-offline"),
        Setting("proxy", "timeout"), Setting("proxy", "no-status", .flag),
    ]

    /// The variables that hold secrets, which a file must not.
    package static let secretVariables = ["KEEL_TOKEN"]
}
