internal import Foundation
package import KeelSecurity
internal import KeelToolSupport

/// The keys in files and on the command line: Keel's text, PEM or JSON Web Keys.
package enum KeyFiles {
    /// Returns the recipients that texts and files name.
    ///
    /// - Parameters:
    ///   - texts: Public keys.
    ///   - files: Files with a public key per line, or with one PEM or JSON Web Key.
    /// - Returns: The recipients, in order.
    /// - Throws: `ToolError` for something else, with its place.
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
                    advice: "Give a text that begins with keelpub1, or the file of one with -R."
                )
            }
        }
        for file in files {
            recipients += try keys(in: file, "public key") { text throws(SecurityError) in
                try SealedFileRecipient(text)
            }
        }
        return recipients
    }

    /// Returns the private keys of files.
    ///
    /// - Parameter files: Files with a key per line, or with one PEM or JSON Web Key.
    /// - Returns: The private keys.
    /// - Throws: `ToolError` for something else, with its place but without its text.
    package static func identities(_ files: [String]) throws -> [SealedFileIdentity] {
        try files.flatMap { file in
            try keys(in: file, "private key") { text throws(SecurityError) in
                try SealedFileIdentity(text)
            }
        }
    }

    /// Returns the text of a file of keys.
    package static func text(of file: String) throws -> String {
        let handle =
            file == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: file)
        guard let handle, let data = try? handle.read(upToCount: 1 << 20),
            let text = String(validating: data, as: UTF8.self)
        else {
            throw ToolError(
                "“\(file)” cannot be read as a file of keys",
                advice: "Give a text file of at most 1 MiB that exists and that you may read."
            )
        }
        return text
    }

    private static func keys<Key>(
        in file: String,
        _ kind: String,
        _ parse: (String) throws(SecurityError) -> Key
    ) throws -> [Key] {
        let text = try text(of: file)
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
