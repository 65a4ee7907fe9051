package import Foundation
internal import KeelCore
package import KeelSecurity
internal import KeelToolSupport

/// Seals and opens whole files, in bounded memory.
package enum FileSealing {
    /// The recipients that can open a sealed file; or its passphrase, and the memory of one attempt in KiB.
    package enum Lock: Sendable {
        case recipients([SealedFileRecipient])
        case passphrase(String, memory: Int)
    }

    /// Seals a file, bound to the bytes of a context, as text if `isArmored`; returns the number of bytes written.
    ///
    /// - Throws: An error; no file is then written, but standard output may have received some pieces.
    package static func seal(
        through pipe: FilePipe,
        for lock: Lock,
        context: Data,
        isArmored: Bool,
        progress: (Int) -> Void = { _ in }
    ) async throws -> Int {
        let sealing: (header: SealedFileHeader, encryptor: StreamEncryptor)
        switch lock {
        case .recipients(let recipients):
            sealing = try SealedFileHeader.sealing(for: recipients, context: context)
        case .passphrase(let text, let memory):
            var cost = SealedFileHeader.passphraseCost
            cost.memory = memory
            sealing = try await SealedFileHeader.sealing(
                passphrase: text,
                cost: cost,
                context: context
            )
        }
        let encryptor = sealing.encryptor
        var beginning = sealing.header.bytes
        var armorer = isArmored ? SealedFileArmorer() : nil
        return try await pipe.run(progress: progress) { piece in
            let sealed = try piece.map { try encryptor.update($0) } ?? encryptor.finish()
            let bytes = beginning + sealed
            beginning = Data()
            guard let text = armorer?.update(bytes) else { return bytes }
            return piece == nil ? text + (armorer?.finish() ?? Data()) : text
        }
    }

    /// Opens a sealed file, armored or not, and returns the number of bytes written.
    ///
    /// The target receives authenticated bytes only. `passphrase` is called only for a file that was sealed under one.
    ///
    /// - Throws: An error; no file is then written, but standard output may have received some pieces.
    package static func open(
        through pipe: FilePipe,
        context: Data,
        identities: [SealedFileIdentity],
        passphrase: () throws -> String,
        progress: (Int) -> Void = { _ in }
    ) async throws -> Int {
        var reader = Reader()
        return try await pipe.run(progress: progress) { piece in
            try await reader.update(piece) { header in
                guard header.usesPassphrase else {
                    guard !identities.isEmpty else {
                        throw ToolError(
                            "the file was sealed for recipients",
                            advice: "Give the file of a private key with --identity."
                        )
                    }
                    return try header.decryptor(identities: identities, context: context)
                }
                return try await header.decryptor(passphrase: try passphrase(), context: context)
            }
        }
    }

    // MARK: Short texts

    /// Seals a short text under a passphrase, without a context, as armored text.
    package static func sealed(_ text: String, under passphrase: String) async throws -> String {
        let (header, encryptor) = try await SealedFileHeader.sealing(passphrase: passphrase)
        var sealed = header.bytes
        sealed += try encryptor.update(Data(text.utf8))
        sealed += try encryptor.finish()
        var armorer = SealedFileArmorer()
        let lines = armorer.update(sealed)
        return String(decoding: lines + armorer.finish(), as: UTF8.self)
    }

    /// Opens a short file that was sealed under a passphrase, armored or not.
    ///
    /// - Throws: `SecurityError`, or `ToolError` if it was sealed for recipients, is cut short, or there is no
    ///   passphrase.
    package static func opened(_ sealed: Data, by source: PassphraseSource) async throws -> Data {
        let pieces: [Data?] = [sealed, nil]
        var reader = Reader()
        var plain = Data()
        for piece in pieces {
            let bytes = try await reader.update(piece) { header in
                guard header.usesPassphrase else {
                    throw ToolError(
                        "the key was sealed for recipients, not under a passphrase",
                        advice: "Open its file with `keel decrypt` first."
                    )
                }
                return try await header.decryptor(passphrase: try source.passphrase(isNew: false))
            }
            plain += bytes
        }
        return plain
    }

    private struct Reader {
        private enum Form {
            case unknown
            case binary
            case armored(SealedFileDearmorer)
        }

        private var form = Form.unknown
        private var waiting = Data()
        private var decryptor: StreamDecryptor?

        mutating func update(
            _ piece: Data?,
            _ open: (SealedFileHeader) async throws -> StreamDecryptor
        ) async throws -> Data {
            let bytes = try dearmored(piece)
            // The first bytes wait until they tell the form.
            if case .unknown = form { return Data() }
            if decryptor == nil {
                waiting.append(bytes)
                guard let header = try SealedFileHeader(beginning: waiting) else {
                    guard piece != nil else {
                        throw ToolError(
                            "the file ends within its header",
                            advice: "Copy the whole file; `keel encrypt` writes such files."
                        )
                    }
                    return Data()
                }
                decryptor = try await open(header)
                let rest = Data(waiting.dropFirst(header.bytes.count))
                waiting = Data()
                return try decrypted(rest, isEnd: piece == nil)
            }
            return try decrypted(bytes, isEnd: piece == nil)
        }

        private mutating func decrypted(_ bytes: Data, isEnd: Bool) throws -> Data {
            let plain = try decryptor?.update(bytes) ?? Data()
            return isEnd ? plain + (try decryptor?.finish() ?? Data()) : plain
        }

        private mutating func dearmored(_ piece: Data?) throws -> Data {
            var bytes = piece ?? Data()
            if case .unknown = form {
                waiting.append(bytes)
                let isArmored = SealedFileArmor.isArmored(waiting) ?? (piece == nil ? false : nil)
                guard let isArmored else { return Data() }
                form = isArmored ? .armored(SealedFileDearmorer()) : .binary
                bytes = waiting
                waiting = Data()
            }
            guard case .armored(var dearmorer) = form else { return bytes }
            form = .binary
            var output = try dearmorer.update(bytes)
            if piece == nil { try output.append(dearmorer.finish()) }
            form = .armored(dearmorer)
            return output
        }
    }
}
