internal import Foundation
package import KeelSecurity
internal import KeelToolSupport

/// Reads keys in Keel's text, PEM or JSON Web Keys, from texts and from files of at most 1 MiB.
///
/// The file `-` is standard input. A file has one PEM or JSON Web Key, or a key per line, with comments behind `#`.
package enum KeyFiles {
    /// Returns the recipients of public keys, and then those of files.
    ///
    /// - Throws: `ToolError` with the place of something else, or for a file that cannot be read or has no key.
    package static func recipients(
        texts: [String],
        files: [String]
    ) throws -> [SealedFileRecipient] {
        var recipients: [SealedFileRecipient] = []
        for text in texts {
            do {
                recipients.append(try SealedFileRecipient(text))
            } catch {
                throw ToolError(
                    "“\(text)” is not a recipient",
                    advice: "Give a text that begins with keelpub1, or the file of one with -R.",
                    exit: .usage
                )
            }
        }
        for file in files {
            let text = try text(of: file)
            recipients += try keys(in: text, of: file, "public key") { text throws(SecurityError) in
                try SealedFileRecipient(text)
            }
        }
        return recipients
    }

    /// Returns the private keys of files, which may be sealed under a passphrase.
    ///
    /// - Throws: `ToolError` as for recipients, never with the text of a key, or if there is no passphrase;
    ///   `SecurityError` for a wrong one.
    package static func identities(
        _ files: [String],
        passphrase: PassphraseSource
    ) async throws -> [SealedFileIdentity] {
        var identities: [SealedFileIdentity] = []
        for file in files {
            let text = try await text(of: file, passphrase: passphrase)
            identities += try keys(in: text, of: file, "private key") {
                text throws(SecurityError) in
                try SealedFileIdentity(text)
            }
        }
        return identities
    }

    package static func text(of file: String) throws -> String {
        try text(of: try data(of: file), in: file)
    }

    /// Returns the text of a file of keys, which may be sealed under a passphrase.
    ///
    /// - Throws: `ToolError` if the file cannot be read or there is no passphrase; `SecurityError` for a wrong one.
    package static func text(
        of file: String,
        passphrase: PassphraseSource
    ) async throws -> String {
        try await opened(file, by: passphrase).text
    }

    /// Returns the text of a file as ``text(of:passphrase:)`` does, and whether it is sealed.
    package static func opened(
        _ file: String,
        by passphrase: PassphraseSource
    ) async throws -> (text: String, isSealed: Bool) {
        let data = try data(of: file)
        let isSealed =
            SealedFileArmor.isArmored(data) == true
            || (try? SealedFileHeader(beginning: data)) != nil
        let plain = try await isSealed ? FileSealing.opened(data, by: passphrase) : data
        return (try text(of: plain, in: file), isSealed)
    }

    private static let limit = 1 << 20

    private static func data(of file: String) throws -> Data {
        let handle =
            file == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: file)
        // One byte more than the limit, so that no key of a longer file is passed over.
        guard let handle, let data = try? handle.read(upToCount: limit + 1), data.count <= limit
        else { throw unreadable(file) }
        // Some editors begin a file with a mark of its encoding, which would belong to the first key.
        return data.starts(with: [0xEF, 0xBB, 0xBF]) ? Data(data.dropFirst(3)) : data
    }

    private static func text(of data: Data, in file: String) throws -> String {
        guard let text = String(validating: data, as: UTF8.self) else { throw unreadable(file) }
        return text
    }

    private static func unreadable(_ file: String) -> ToolError {
        ToolError(
            "“\(file)” cannot be read as a file of keys",
            advice: "Give a text file of at most 1 MiB that exists and that you may read."
        )
    }

    private static func keys<Key>(
        in text: String,
        of file: String,
        _ kind: String,
        _ parse: (String) throws(SecurityError) -> Key
    ) throws -> [Key] {
        let start = text.drop { $0.isWhitespace }
        guard !start.hasPrefix("{"), !start.hasPrefix("-----") else {
            return [try key(text, file, kind, parse)]
        }
        var keys: [Key] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            keys.append(try key(line, "\(file), line \(index + 1),", kind, parse))
        }
        guard !keys.isEmpty else {
            throw ToolError("“\(file)” contains no \(kind)", advice: "Give a file with one.")
        }
        return keys
    }

    private static func key<Key>(
        _ text: String,
        _ place: String,
        _ kind: String,
        _ parse: (String) throws(SecurityError) -> Key
    ) throws -> Key {
        do {
            return try parse(text)
        } catch {
            throw ToolError(
                "\(place) is not an X25519 \(kind)",
                advice: "`keel keyset generate` makes such keys; PEM and JWK are read as well."
            )
        }
    }
}
