import ArgumentParser
import Foundation
import KeelSecurity
import KeelSecurityTools
import KeelToolSupport

/// The keyset, and what the files belong to.
struct FileKeyOptions: ParsableArguments {
    @Option(name: .long, help: "The file of the keyset, made by `keel keyset create`.")
    var keyset: String

    @OptionGroup var key: KeySourceOptions

    @Option(help: "What the keyset belongs to, if it was given when it was made.")
    var keysetContext = ""

    @Option(help: "What the files belong to: decryption needs the same text.")
    var context = ""

    @Flag(help: "Write results and errors as JSON, one object a line.")
    var json = false

    var output: CommandOutput { CommandOutput(isJSON: json) }

    /// What encrypts and decrypts files.
    ///
    /// - Parameter keepsDates: Whether what the dates ask for is kept: the next key takes its turn,
    ///   the old one goes. Who reads files changes nothing, or the key that is asked for might go.
    /// - Returns: What works with the keyset as it is now.
    /// - Throws: What reading the keyset throws.
    func encryption(keepsDates: Bool) async throws -> FileEncryption {
        let file = KeysetFile(
            at: URL(filePath: keyset),
            under: try await key.choice.source(createsIfMissing: false),
            associatedData: Data(keysetContext.utf8)
        )
        var keyset = try await file.load()
        if keepsDates, keyset.advance() {
            keyset = try await file.change { keyset throws(SecurityError) in keyset.advance() }
        }
        return try FileEncryption(keyset: keyset, associatedData: Data(context.utf8))
    }

    /// What draws how far a file has been read.
    func progress(of source: URL) -> @Sendable (Int) -> Void {
        let values = try? source.resourceValues(forKeys: [.fileSizeKey])
        let size = Double(values?.fileSize ?? 0)
        return { [output] count in
            output.progress(
                "\(count >> 20) MiB",
                fraction: size > 0 ? Double(count) / size : nil
            )
        }
    }
}

struct EncryptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encrypt",
        abstract: "Encrypts a file with a keyset, in bounded memory.",
        discussion: """
            The result appears when it is complete, beside the file or where --output says, and \
            never in the place of another file. Tink's streaming AEAD reads it.
            """
    )

    @Argument(help: "The file to encrypt, which stays as it is.", completion: .file())
    var file: String

    @OptionGroup var keys: FileKeyOptions

    @Option(name: .shortAndLong, help: "The file to write; FILE.keel if it is not given.")
    var output: String?

    func run() async throws {
        try await keys.output.reporting {
            let (source, target) = (URL(filePath: file), URL(filePath: output ?? file + ".keel"))
            let encryption = try await keys.encryption(keepsDates: true)
            let progress = keys.progress(of: source)
            let count = try await Interruption.value {
                try encryption.run(.encrypt, from: source, to: target, progress: progress)
            }
            keys.output.endProgress()
            try FileResult(file: target.path, bytes: count).show(keys.output)
            return .done
        }
    }
}

struct DecryptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt",
        abstract: "Decrypts a file that `keel encrypt` or Tink has written.",
        discussion: "The result appears when all of it was authenticated, and not before."
    )

    @Argument(help: "The file to decrypt, which stays as it is.", completion: .file())
    var file: String

    @OptionGroup var keys: FileKeyOptions

    @Option(name: .shortAndLong, help: "The file to write; FILE without .keel if not given.")
    var output: String?

    func validate() throws {
        guard output != nil || file.hasSuffix(".keel") else {
            throw ValidationError("Name the file to write with --output.")
        }
    }

    func run() async throws {
        try await keys.output.reporting {
            let (source, target) = (
                URL(filePath: file), URL(filePath: output ?? String(file.dropLast(5)))
            )
            let encryption = try await keys.encryption(keepsDates: false)
            let progress = keys.progress(of: source)
            let count = try await Interruption.value {
                try encryption.run(.decrypt, from: source, to: target, progress: progress)
            }
            keys.output.endProgress()
            try FileResult(file: target.path, bytes: count).show(keys.output)
            return .done
        }
    }
}

struct KeysetReencryptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reencrypt",
        abstract: "Writes encrypted files anew with the primary key, each in its own place.",
        discussion: """
            After a rotation, so that older keys can be disabled. A file that no enabled key opens \
            stays as it is; the exit code is 2 then.
            """
    )

    @Argument(help: "Encrypted files.", completion: .file())
    var files: [String]

    @OptionGroup var keys: FileKeyOptions

    func run() async throws {
        try await keys.output.reporting {
            let encryption = try await keys.encryption(keepsDates: false)
            var refused = 0
            for file in files {
                let url = URL(filePath: file)
                do {
                    let progress = keys.progress(of: url)
                    try await Interruption.value {
                        try encryption.reencrypt(url, progress: progress)
                    }
                } catch let error as SecurityError where error.code == .decryptionFailed {
                    refused += 1
                    keys.output.endProgress()
                    keys.output.message("\(file): \(error.message)")
                }
            }
            keys.output.endProgress()
            let written = files.count - refused
            if keys.json {
                try keys.output.record(["reencrypted": written, "unreadable": refused])
            } else {
                try keys.output.line("\(written) files encrypted anew, \(refused) unreadable")
            }
            return refused == 0 ? .done : .findings
        }
    }
}

/// What was written.
private struct FileResult: Encodable {
    let file: String
    let bytes: Int

    func show(_ output: CommandOutput) throws {
        guard !output.isJSON else { return try output.record(self) }
        try output.line("\(file): \(bytes) bytes")
    }
}
