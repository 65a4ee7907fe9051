import ArgumentParser
import Foundation
import KeelCore
import KeelSecurity
import KeelSecurityTools
import KeelTerminal
import KeelToolSupport

/// The keyset, and the files' associated data.
struct FileKeyOptions: ParsableArguments {
    @Option(
        name: .long,
        help: "The file of the keyset, made by `keel keyset create`.",
        completion: .file()
    )
    var keyset: String?

    @OptionGroup var key: KeySourceOptions

    @Option(help: "What the files belong to: decryption needs the same text.")
    var context = ""

    @Flag(name: .shortAndLong, help: "Shows no progress.")
    var quiet = false

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    var output: CommandOutput { CommandOutput(isJSON: json, isQuiet: quiet) }

    func validate() throws { try key.check(for: keyset) }

    /// Returns the service that encrypts and decrypts files with the keyset.
    ///
    /// With `keepsDates`, keys are activated and destroyed at their dates. Commands that decrypt do not, because they
    /// might need a key that is due.
    ///
    /// - Throws: `ValidationError` without a keyset, or the error of reading it.
    func encryption(keepsDates: Bool) async throws -> FileEncryption {
        guard let path = keyset else { throw ValidationError("Name the keyset with --keyset.") }
        let (file, context) = (try await key.keyset(at: path), Data(context.utf8))
        guard keepsDates else {
            return try FileEncryption(keyset: try await file.load(), associatedData: context)
        }
        // A ring destroys a key only when its time has surely come: the clock may be ahead.
        return try FileEncryption(keys: try await file.ring(), associatedData: context)
    }

    /// Returns a line for the bytes read; it is not drawn if the result goes to the terminal.
    func progressLine(of source: FilePipe.End, to target: FilePipe.End) -> ProgressLine {
        var size: Int?
        if case .file(let url) = source {
            size = (try? url.resourceValues(forKeys: [.fileSizeKey]))?.fileSize
        }
        return output.progressLine(total: size, unit: .bytes, writesData: target == .standard)
    }

    /// Runs a command on a pipe, and reports the file that it has written, if any.
    func run(
        _ pipe: FilePipe,
        _ body: @escaping @Sendable (@Sendable (Int) -> Void) async throws -> Int
    ) async throws {
        let line = progressLine(of: pipe.source, to: pipe.target)
        defer { line.finish() }
        guard case .file(let file) = pipe.target else {
            // Nothing is left behind, so signals end the process, even while it waits for a reader.
            _ = try await body { line.update(done: $0) }
            return
        }
        let count = try await Interruption.value {
            try await body { line.update(done: $0) }
        }
        line.finish()
        try FileResult(file: file.path, bytes: count).show(output)
    }
}

/// The source of a passphrase.
struct PassphraseOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            An open file descriptor with the passphrase, instead of the terminal. The variable \
            KEEL_PASSPHRASE_FILE names a file that contains it.
            """,
            valueName: "number"
        )
    )
    var passphraseDescriptor: Int32?

    @Option(
        help: ArgumentHelp("An environment variable with the passphrase.", valueName: "variable")
    )
    var passphraseVariable: String?

    /// Whether a source other than the terminal was named.
    var isGiven: Bool { passphraseDescriptor != nil || passphraseVariable != nil }

    var source: PassphraseSource {
        PassphraseSource(descriptor: passphraseDescriptor, variable: passphraseVariable)
    }

    func validate() throws {
        guard (passphraseDescriptor ?? 3) >= 0 else {
            throw ValidationError("--passphrase-descriptor must not be negative.")
        }
        guard passphraseDescriptor == nil || passphraseVariable == nil else {
            throw ValidationError(
                "Name one of --passphrase-descriptor and --passphrase-variable."
            )
        }
    }

    func validate(_ file: String) throws {
        guard passphraseDescriptor != STDIN_FILENO || file != "-" else {
            throw ValidationError(
                "Standard input cannot have both the passphrase and what it is for: type "
                    + "--passphrase-descriptor 3 3<FILE."
            )
        }
    }
}

struct EncryptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encrypt",
        abstract: "Encrypts a file or standard input, in bounded memory.",
        discussion: """
            For people and machines with a private key (-r, several times), under a passphrase \
            (-p), or with a keyset (--keyset), whose files Tink's streaming AEAD reads.

            The new file, FILE.keel or that of --output, appears when it is complete; an existing file \
            is never replaced. Standard input is encrypted to standard output.

                pg_dump app | keel encrypt -r keelpub1… > app.keel
            """
    )

    @Argument(
        help: "The file to encrypt, which stays as it is; - is standard input.",
        completion: .file()
    )
    var file = "-"

    @Option(name: .shortAndLong, help: "A public key that may open the file; can be repeated.")
    var recipient: [String] = []

    @Option(
        name: [.customShort("R"), .long],
        help: "A file of public keys, one per line, PEM or JWK; can be repeated.",
        completion: .file()
    )
    var recipientsFile: [String] = []

    @Flag(name: .shortAndLong, help: "Encrypts under a passphrase instead of for recipients.")
    var passphrase = false

    @OptionGroup var passphraseOptions: PassphraseOptions

    @Option(
        help: ArgumentHelp(
            "The memory that trying a passphrase costs: 1 to 1024 MiB.",
            valueName: "MiB"
        )
    )
    var passphraseMemory = SealedFileHeader.passphraseCost.memory >> 10

    @Flag(name: [.customShort("a"), .long], help: "Write text, for mail and chats.")
    var armor = false

    @OptionGroup var keys: FileKeyOptions

    @Option(
        name: .shortAndLong,
        help: "The file to write; FILE.keel if it is not given. - is standard output.",
        completion: .file()
    )
    var output: String?

    private var usesPassphrase: Bool {
        passphrase || passphraseOptions.isGiven
    }

    private var namesRecipients: Bool { !recipient.isEmpty || !recipientsFile.isEmpty }

    func validate() throws {
        let ways = [usesPassphrase, namesRecipients, keys.keyset != nil].count { $0 }
        guard ways == 1 else {
            throw ValidationError(
                "Say what opens the file: --recipient, --passphrase or --keyset, one of the three."
            )
        }
        guard !armor || keys.keyset == nil else {
            throw ValidationError(
                "--armor is for recipients and passphrases: leave it out with --keyset."
            )
        }
        guard (1...1024).contains(passphraseMemory) else {
            throw ValidationError("--passphrase-memory is 1 to 1024 MiB.")
        }
        try Parsed.requireOneStandardInput([file] + recipientsFile)
        try passphraseOptions.validate(file)
    }

    func run() async throws {
        try await keys.output.reporting {
            let target = output ?? (file == "-" ? "-" : file + ".keel")
            if output == nil, target == "-", !armor, isatty(STDOUT_FILENO) == 1 {
                throw ToolError(
                    "encrypted bytes are not for a terminal",
                    advice: "Redirect the output, or give --armor or --output."
                )
            }
            let pipe = FilePipe(from: .init(file), to: .init(target))
            // Before a passphrase is needed, or a keyset changes by its dates.
            try pipe.check()
            guard keys.keyset == nil else {
                let encryption = try await keys.encryption(keepsDates: true)
                try await keys.run(pipe) { progress in
                    try await encryption.run(.encrypt, through: pipe, progress: progress)
                }
                return .done
            }
            let lock = try lock()
            let (context, isArmored) = (Data(keys.context.utf8), armor)
            try await keys.run(pipe) { progress in
                try await FileSealing.seal(
                    through: pipe,
                    for: lock,
                    context: context,
                    isArmored: isArmored,
                    progress: progress
                )
            }
            return .done
        }
    }

    private func lock() throws -> FileSealing.Lock {
        guard usesPassphrase else {
            return .recipients(
                try KeyFiles.recipients(texts: recipient, files: recipientsFile)
            )
        }
        let text = try passphraseOptions.source.passphrase(isNew: true)
        return .passphrase(text, memory: passphraseMemory << 10)
    }
}

struct DecryptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt",
        abstract: "Decrypts files of `keel encrypt` or of Tink's streaming AEAD.",
        discussion: """
            A file appears when all of it has been authenticated. Standard output receives only \
            authenticated bytes; exit code 1 means that the end is missing.

            The command asks for the passphrase of a file that was encrypted under one, and of a \
            private key that is sealed under one. A file that was encrypted for recipients needs a \
            private key: -i.

                keel decrypt app.keel -i ~/.config/keel/key
                keel decrypt -i ~/.config/keel/key < app.keel | psql app
            """
    )

    @Argument(
        help: "The file to decrypt, which stays as it is; - is standard input.",
        completion: .file()
    )
    var file = "-"

    @Option(
        name: .shortAndLong,
        help: "A file of private keys, one per line, PEM or JWK; can be repeated.",
        completion: .file()
    )
    var identity: [String] = []

    @OptionGroup var passphraseOptions: PassphraseOptions

    @OptionGroup var keys: FileKeyOptions

    @Option(
        name: .shortAndLong,
        help: "The file to write; FILE without .keel if not given. - is standard output.",
        completion: .file()
    )
    var output: String?

    func validate() throws {
        guard output != nil || file == "-" || file.hasSuffix(".keel") else {
            throw ValidationError("Name the file to write with --output.")
        }
        guard keys.keyset == nil || identity.isEmpty else {
            throw ValidationError("--identity and --keyset cannot be combined: leave out one.")
        }
        try Parsed.requireOneStandardInput([file] + identity)
        for file in [file] + identity { try passphraseOptions.validate(file) }
    }

    func run() async throws {
        try await keys.output.reporting {
            let target = output ?? (file == "-" ? "-" : String(file.dropLast(5)))
            let pipe = FilePipe(from: .init(file), to: .init(target))
            // Before the passphrase of a sealed key is needed, or a keyring is unlocked.
            try pipe.check()
            guard keys.keyset == nil else {
                let encryption = try await keys.encryption(keepsDates: false)
                try await keys.run(pipe) { progress in
                    try await encryption.run(.decrypt, through: pipe, progress: progress)
                }
                return .done
            }
            let source = passphraseOptions.source
            let identities = try await KeyFiles.identities(identity, passphrase: source)
            let context = Data(keys.context.utf8)
            try await keys.run(pipe) { progress in
                try await FileSealing.open(
                    through: pipe,
                    context: context,
                    identities: identities,
                    passphrase: { try source.passphrase(isNew: false) },
                    progress: progress
                )
            }
            return .done
        }
    }
}

struct KeysetReencryptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reencrypt",
        abstract: "Encrypts files again, in place, with the primary key.",
        discussion: """
            Run it after a rotation, so that older keys can be disabled. A file that no enabled key \
            opens stays unchanged, and the exit code is then 2.
            """
    )

    @Argument(help: "Encrypted files.", completion: .file())
    var files: [String]

    @OptionGroup var keys: FileKeyOptions

    func validate() throws {
        guard keys.keyset != nil else { throw ValidationError("Name the keyset with --keyset.") }
        for file in files { try Parsed.requireFile(file, "A file to encrypt again") }
    }

    func run() async throws {
        try await keys.output.reporting {
            let encryption = try await keys.encryption(keepsDates: false)
            var refused = 0
            for file in files {
                let url = URL(filePath: file)
                do {
                    let line = keys.progressLine(of: .file(url), to: .file(url))
                    defer { line.finish() }
                    try await Interruption.value {
                        try await encryption.reencrypt(url) { line.update(done: $0) }
                    }
                } catch let error as SecurityError where error.code == .decryptionFailed {
                    refused += 1
                    if keys.json {
                        keys.output.failure(error, about: file)
                    } else {
                        keys.output.message("\(file): \(error.message)")
                    }
                }
            }
            let written = files.count - refused
            if keys.json {
                try keys.output.record(["reencrypted": written, "unreadable": refused])
            } else {
                try keys.output.line(
                    "\(written.counted("file")) encrypted again, \(refused) unreadable"
                )
            }
            return refused == 0 ? .done : .findings
        }
    }
}

/// The report of a written file.
private struct FileResult: Encodable {
    let file: String
    let bytes: Int

    func show(_ output: CommandOutput) throws {
        guard !output.isJSON else { return try output.record(self) }
        try output.line("\(file): \(bytes.counted("byte"))")
    }
}
