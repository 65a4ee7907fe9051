import ArgumentParser
import Foundation
import KeelSecurity
import KeelSecurityTools
import KeelToolSupport

extension PrivateKeyText.Kind: ExpressibleByArgument {}
extension KeyForm: ExpressibleByArgument {}

struct KeysetGenerateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Makes a private key in a file, and writes its public half to standard output.",
        discussion: """
            x25519 opens files that `keel encrypt --recipient` sealed, ed25519 and p256 sign. The \
            file has mode 0600 and must not exist. It is not encrypted, unless -p seals it under a \
            passphrase, for which the commands that use it ask.

            With - the private key goes to standard output, unless that is a terminal, and its \
            public half to standard error.
            """
    )

    @Argument(
        help: "The file of the private key; - is standard output.",
        completion: .file()
    )
    var file: String

    @Option(help: "The kind of key.")
    var kind = PrivateKeyText.Kind.x25519

    @Option(help: "The form of both halves; text for x25519, pem for the others if not given.")
    var format: KeyForm?

    @Flag(name: .shortAndLong, help: "Seals the private key under a passphrase.")
    var passphrase = false

    @OptionGroup var passphraseOptions: PassphraseOptions

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    func run() async throws {
        let output = CommandOutput(isJSON: json)
        try await output.reporting {
            let key = PrivateKeyText(kind)
            let form = format ?? key.publicKey.usualForm
            let text = try key.publicKey.text(form)
            let source = passphrase || passphraseOptions.isGiven ? passphraseOptions.source : nil
            try await KeyOutput.write(try key.cleartext(form), sealedBy: source, to: file)
            guard file != "-" else {
                try FileHandle.standardError.write(contentsOf: Array(text.utf8))
                return .done
            }
            try KeyOutput.writePublic(text, to: output)
            return .done
        }
    }
}

struct KeysetPublicCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "public",
        abstract: "Writes the public half of a key to standard output.",
        discussion: """
            The file is a key of `keel keyset generate`, PEM or JWK. With --key-file or another \
            source of a key, it is a keyset for HPKE; its public half is Tink's JSON.
            """
    )

    @Argument(help: "The file of the key or keyset; - is standard input.", completion: .file())
    var file: String

    @Option(help: "The form; text for x25519, pem for the others if not given.")
    var format: KeyForm?

    @OptionGroup var key: KeySourceOptions

    @OptionGroup var passphraseOptions: PassphraseOptions

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    func validate() throws {
        try passphraseOptions.validate(file)
        guard key.choice.count <= 1 else { return try key.requireOne() }
        if key.choice.count == 1 { try Parsed.requireFile(file, "A keyset") }
        guard key.choice.count == 0 || format == nil else {
            throw ValidationError(
                "--format is for single keys: leave it out, because a public keyset is Tink's JSON."
            )
        }
    }

    func run() async throws {
        let output = CommandOutput(isJSON: json)
        try await output.reporting {
            try KeyOutput.writePublic(try await text(), to: output)
            return .done
        }
    }

    private func text() async throws -> String {
        guard key.choice.count == 0 else {
            let keyset = try await key.keyset(at: file).load()
            let json = try keyset.publicKeyset().cleartextJSON()
            return String(decoding: json, as: UTF8.self) + "\n"
        }
        let text = try await KeyFiles.text(of: file, passphrase: passphraseOptions.source)
        let key = try PublicKeyText(text, from: file)
        return try key.text(format ?? key.usualForm)
    }
}

struct KeysetImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Reads a private key from PEM or JWK, and writes it in another form.",
        discussion: """
            The new file has mode 0600; it must not exist. A key that is sealed under a passphrase \
            asks for it, and -p seals the new one. A passphrase from a descriptor or a variable that \
            would do neither is an error.
            """
    )

    @Argument(help: "The file to read; - is standard input.", completion: .file())
    var source: String

    @Argument(help: "The file to write; - is standard output.", completion: .file())
    var target: String

    @Option(help: "The form to write; text for x25519, pem for the others if not given.")
    var format: KeyForm?

    @Flag(name: .shortAndLong, help: "Seals the new file under a passphrase.")
    var passphrase = false

    @OptionGroup var passphraseOptions: PassphraseOptions

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    func validate() throws { try passphraseOptions.validate(source) }

    func run() async throws {
        let output = CommandOutput(isJSON: json)
        try await output.reporting {
            let phrase = passphraseOptions.source
            let opened = try await KeyFiles.opened(source, by: phrase)
            guard opened.isSealed || passphrase || !passphraseOptions.isGiven else {
                throw ToolError(
                    "“\(source)” is not sealed, and the new file would not be either",
                    advice: "Add -p to seal the new file, or give no passphrase.",
                    exit: .usage
                )
            }
            let key = try PrivateKeyText(opened.text, from: source)
            let form = format ?? key.publicKey.usualForm
            let cleartext = try key.cleartext(form)
            try await KeyOutput.write(cleartext, sealedBy: passphrase ? phrase : nil, to: target)
            return .done
        }
    }
}

struct KeysetSignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Signs a file with a private key.",
        discussion: """
            The signature is that of the whole file: 64 bytes for Ed25519 (RFC 8032), DER for P-256 \
            with SHA-256. OpenSSL verifies both. A key that is sealed under a passphrase asks for it.
            """
    )

    @Argument(help: "The file to sign; - is standard input.", completion: .file())
    var file: String

    @Option(help: "The file of the private key: PEM or JWK.", completion: .file())
    var key: String

    @Option(
        name: .shortAndLong,
        help: "The file to write; FILE.sig if it is not given. - is standard output.",
        completion: .file()
    )
    var output: String?

    @OptionGroup var passphraseOptions: PassphraseOptions

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    func validate() throws {
        try Parsed.requireOneStandardInput([file, key])
        for file in [file, key] { try passphraseOptions.validate(file) }
    }

    func run() async throws {
        let out = CommandOutput(isJSON: json)
        try await out.reporting {
            let target = output ?? (file == "-" ? "-" : file + ".sig")
            if target != "-" {
                try SeparateFiles.refuse(
                    URL(filePath: target),
                    over: [file, key].filter { $0 != "-" }.map { URL(filePath: $0) },
                    advice: "Name another file for --output."
                )
            }
            let text = try await KeyFiles.text(of: key, passphrase: passphraseOptions.source)
            guard case .signing(let signing) = try PrivateKeyText(text, from: key) else {
                throw ToolError(
                    "“\(key)” is a key for sealed files, not for signatures",
                    advice: "Make one with `keel keyset generate --kind ed25519`."
                )
            }
            let signature = try signing.signature(for: try KeyOutput.contents(of: file))
            if target == "-" {
                try StandardOutput.write(signature)
            } else {
                var written = try ReplacedFile(URL(filePath: target))
                do {
                    try written.append(signature)
                    try written.finish()
                } catch {
                    written.discard()
                    throw error
                }
            }
            return .done
        }
    }
}

struct KeysetVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verifies the signature of a file; if it is not valid, the exit code is 1.",
        discussion: "Nothing is written if the signature is valid."
    )

    @Argument(help: "The signed file; - is standard input.", completion: .file())
    var file: String

    @Option(help: "The file of the public key: PEM or JWK.", completion: .file())
    var key: String

    @Option(help: "The file of the signature; FILE.sig if it is not given.", completion: .file())
    var signature: String?

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    func validate() throws {
        guard file != "-" || signature != nil else {
            throw ValidationError("Name the file of the signature with --signature.")
        }
        try Parsed.requireOneStandardInput([file, key] + [signature].compactMap { $0 })
    }

    func run() async throws {
        let output = CommandOutput(isJSON: json)
        try await output.reporting {
            guard
                case .verification(let verifying) = try PublicKeyText(
                    try KeyFiles.text(of: key),
                    from: key
                )
            else {
                throw ToolError(
                    "“\(key)” is a key for sealed files, not for signatures",
                    advice: "Give the public half of the key that signed the file."
                )
            }
            let bytes = try KeyOutput.contents(of: signature ?? file + ".sig")
            guard verifying.isValid(bytes, for: try KeyOutput.contents(of: file)) else {
                throw ToolError(
                    "the signature is not valid for “\(file)” and this key",
                    advice: "Do not use the file: it was changed, or another key signed it."
                )
            }
            return .done
        }
    }
}

/// The contents of files, and the output of keys.
private enum KeyOutput {
    /// Writes the public half of a key to standard output.
    static func writePublic(_ text: String, to output: CommandOutput) throws {
        guard !output.isJSON else {
            return try output.record(["publicKey": text.trimmingCharacters(in: .newlines)])
        }
        try StandardOutput.write(Array(text.utf8))
    }

    /// Writes a private key to a new file, or with `-` to standard output, sealed if there is a source of a passphrase.
    ///
    /// - Throws: `ToolError`, also for a file that exists, before it asks for a passphrase.
    static func write(
        _ cleartext: String,
        sealedBy passphrase: PassphraseSource?,
        to file: String
    ) async throws {
        if file == "-", isatty(STDOUT_FILENO) == 1 {
            throw ToolError(
                "a private key is not for a terminal",
                advice: "Redirect the output, or type the path of a file; ./- is one called -.",
                exit: .usage
            )
        }
        var text = cleartext
        if let passphrase {
            guard file == "-" || !FileManager.default.fileExists(atPath: file) else {
                throw ToolError(
                    "“\(file)” already exists",
                    advice: "Type another path, or move this file."
                )
            }
            text = try await FileSealing.sealed(
                cleartext,
                under: try passphrase.passphrase(isNew: true)
            )
        }
        guard file != "-" else { return try StandardOutput.write(Array(text.utf8)) }
        var output = try ReplacedFile(URL(filePath: file), isPrivate: true)
        do {
            try output.append(Data(text.utf8))
            try output.finishNew()
        } catch {
            output.discard()
            throw error
        }
    }

    static func contents(of file: String) throws -> Data {
        guard file != "-" else { return try StandardInput.data() }
        do {
            return try Data(contentsOf: URL(filePath: file), options: .mappedIfSafe)
        } catch {
            throw ToolError(
                "“\(file)” cannot be read: \(ToolError.reason(error))",
                advice: "Give a file that exists and that you may read."
            )
        }
    }
}
