import ArgumentParser
import Foundation
import KeelSecurity
import KeelSecurityTools
import KeelToolSupport

struct KeysetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keyset",
        abstract: "Makes and changes keys: keysets, private keys and signatures.",
        discussion: """
            A keyset is a file of keys, encrypted under another key, in Tink's format: the libraries of \
            Tink in other languages read it with the same key.

                keel keyset create keys.json --key-file key
                keel encrypt report.pdf --keyset keys.json --key-file key
                keel keyset generate release.key --kind ed25519 > release.pub
                keel keyset sign app.tar.gz --key release.key
            """,
        subcommands: [
            KeysetCreateCommand.self, KeysetListCommand.self, KeysetRotateCommand.self,
            KeysetEnableCommand.self, KeysetDisableCommand.self, KeysetDestroyCommand.self,
            KeysetReencryptCommand.self, KeysetRewrapCommand.self, KeysetGenerateCommand.self,
            KeysetPublicCommand.self, KeysetImportCommand.self, KeysetSignCommand.self,
            KeysetVerifyCommand.self,
        ],
        aliases: ["keysets", "keys"]
    )
}

extension KeyAlgorithmName: ExpressibleByArgument {}

struct KeysetCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Makes a keyset of one new key."
    )

    @OptionGroup var keyset: KeysetOptions

    @Option(help: "The algorithm: HKDF for files, DHKEM for recipients, the others for values.")
    var algorithm = KeyAlgorithmName.aes256GCMHKDF64KB

    func run() async throws {
        try await keyset.output.reporting {
            let made = try Keyset.make(algorithm.algorithm)
            try await keyset.file(createsIfMissing: true).create(made)
            try KeysetTable(made).show(keyset.output)
            return .done
        }
    }
}

struct KeysetListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the keys of a keyset, without their bytes.",
        aliases: ["ls"]
    )

    @OptionGroup var keyset: KeysetOptions

    func run() async throws {
        try await keyset.output.reporting {
            try KeysetTable(try await keyset.file().load()).show(keyset.output)
            return .done
        }
    }
}

struct KeysetRotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Adds a key that encrypts, now or from --not-before; the others still decrypt."
    )

    @OptionGroup var keyset: KeysetOptions
    @OptionGroup var dates: KeyDateOptions

    @Option(help: "The algorithm of the new key; that of the primary key if not given.")
    var algorithm: KeyAlgorithmName?

    func run() async throws {
        try await keyset.output.reporting {
            let dates = try dates.dates()
            let changed = try await keyset.file().change { keyset throws(SecurityError) in
                try keyset.rotate(to: algorithm?.algorithm, dates: dates)
            }
            try KeysetTable(changed).show(keyset.output)
            return .done
        }
    }
}

struct KeysetEnableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Enables a key, which then decrypts again."
    )

    @OptionGroup var keyset: KeysetOptions
    @OptionGroup var key: KeyIDOptions

    func run() async throws {
        try await key.change(keyset) { keyset, id throws(SecurityError) in try keyset.enable(id) }
    }
}

struct KeysetDisableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Disables a key, which then does not decrypt until it is enabled."
    )

    @OptionGroup var keyset: KeysetOptions
    @OptionGroup var key: KeyIDOptions

    func run() async throws {
        try await key.change(keyset) { keyset, id throws(SecurityError) in try keyset.disable(id) }
    }
}

struct KeysetDestroyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "destroy",
        abstract: "Destroys the bytes of a key: data that it encrypted can no longer be read."
    )

    @OptionGroup var keyset: KeysetOptions
    @OptionGroup var key: KeyIDOptions

    @Flag(name: .shortAndLong, help: "Destroys the key without asking.")
    var yes = false

    func run() async throws {
        if !yes {
            try await keyset.output.reporting {
                try Confirmation.ask(
                    "Destroy the key \(key.id) of \(keyset.keyset) and all that it alone decrypts?",
                    declined: "nothing was destroyed",
                    advice: "Add --yes to destroy the key \(key.id)."
                )
                return .done
            }
        }
        try await key.change(keyset) { keyset, id throws(SecurityError) in try keyset.destroy(id) }
    }
}

/// The key to change.
struct KeyIDOptions: ParsableArguments {
    @Option(help: "The key's number, as `keel keyset list` shows it.")
    var id: UInt32

    func change(
        _ options: KeysetOptions,
        _ body: (inout Keyset, UInt32) throws(SecurityError) -> Void
    ) async throws {
        try await options.output.reporting {
            let changed = try await options.file().change { keyset throws(SecurityError) in
                try body(&keyset, id)
            }
            try KeysetTable(changed).show(options.output)
            return .done
        }
    }
}

/// A keyset file and the location of its key.
struct KeysetOptions: ParsableArguments {
    @Argument(help: "The file of the keyset: Tink's JSON, encrypted.", completion: .file())
    var keyset: String

    @OptionGroup var key: KeySourceOptions

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    var output: CommandOutput { CommandOutput(isJSON: json) }

    func validate() throws {
        try Parsed.requireFile(keyset, "A keyset")
        try key.requireOne()
    }

    func file(createsIfMissing: Bool = false) async throws -> KeysetFile {
        try await key.keyset(at: keyset, createsIfMissing: createsIfMissing)
    }
}

/// The dates of a new key.
struct KeyDateOptions: ParsableArguments {
    @Option(
        help: "The time from which the key encrypts, so that all readers have it by then: RFC 3339."
    )
    var notBefore: String?

    @Option(help: "The time from which the key only decrypts.")
    var expires: String?

    @Option(help: "The time from which the key is destroyed, once another key is the primary one.")
    var destroyAfter: String?

    func validate() throws { _ = try dates() }

    func dates() throws -> KeyDates {
        KeyDates(
            notBefore: try date(notBefore, "--not-before"),
            expires: try date(expires, "--expires"),
            destroyAfter: try date(destroyAfter, "--destroy-after")
        )
    }

    private func date(_ text: String?, _ option: String) throws -> Date? {
        guard let text else { return nil }
        guard let date = try? Date(text, strategy: .iso8601) else {
            throw ValidationError("\(option) is a time as 2027-01-31T00:00:00Z, not “\(text)”.")
        }
        return date
    }
}
