internal import Foundation
internal import KeelSecurity
package import KeelToolSupport

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The callers of a server and their tokens, from a file.
///
/// A line has the name of a caller and the SHA-256 of a token in hexadecimal. A word that begins with `#` begins a
/// comment. A caller may have several lines.
package struct TokenFile: Sendable {
    private struct Entry {
        let name: String
        /// The lowercase digits of the hash.
        let hash: [UInt8]
        let line: Int
    }

    private let entries: [Entry]

    /// Reads a file of at most 1 MiB, or the target of a link.
    ///
    /// - Throws: An error for a file that cannot be read, that belongs to a user other than this one and root, or that
    ///   others can write; and for one with no token, an empty one, one twice, or a line of another form. No error
    ///   contains the text of a line.
    package init(_ path: String) throws(ToolError) {
        let text = try Self.text(of: path)
        let emptyHash = Self.hash("")
        var entries: [Entry] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let parts = line.split(whereSeparator: \.isWhitespace)
                .prefix { !$0.hasPrefix("#") }
            guard let first = parts.first else { continue }
            let digits = parts.dropFirst().first.map { Array($0.lowercased().utf8) } ?? []
            guard parts.count == 2, Self.isHash(digits) else {
                throw ToolError(
                    "\(path), line \(index + 1), is not a name and the SHA-256 of a token",
                    advice: Self.advice
                )
            }
            // As of `printf %s "$TOKEN"` without the variable.
            guard digits != emptyHash else {
                throw ToolError(
                    "\(path), line \(index + 1), has the SHA-256 of an empty token",
                    advice: Self.advice
                )
            }
            if let earlier = entries.first(where: { $0.hash == digits }) {
                throw ToolError(
                    "\(path) has one token in line \(earlier.line) and in line \(index + 1)",
                    advice: "Give each caller a token of its own."
                )
            }
            entries.append(Entry(name: String(first), hash: digits, line: index + 1))
        }
        guard !entries.isEmpty else {
            throw ToolError("“\(path)” lists no token", advice: Self.advice)
        }
        self.entries = entries
    }

    /// Returns the name of the caller with a token, in the same time for every token; nil if the file does not list it.
    package func name(of token: String) -> String? {
        let hash = Self.hash(token)
        var name: String?
        for entry in entries {
            var difference: UInt8 = 0
            for (listed, given) in zip(entry.hash, hash) { difference |= listed ^ given }
            if difference == 0 { name = entry.name }
        }
        return name
    }

    private static let limit = 1 << 20

    private static let advice =
        "Write lines of a NAME and 64 digits, such as those of: printf %s \"$TOKEN\" | sha256sum"

    private static func hash(_ token: String) -> [UInt8] {
        Array(SecurityService().hash(Data(token.utf8)).utf8)
    }

    private static func isHash(_ digits: [UInt8]) -> Bool {
        digits.count == 64
            && digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Reads the file that it has checked, even if the name is reused meanwhile.
    private static func text(of path: String) throws(ToolError) -> String {
        // Without O_NONBLOCK, opening a pipe without a writer would block.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw unreadable(path)
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw ToolError(
                "“\(path)” belongs to another user, who could add tokens",
                advice: "Make it a file of the server's own user, or of root: chown."
            )
        }
        guard status.st_mode & 0o022 == 0 else {
            throw ToolError(
                "users other than its owner can write “\(path)”, and add tokens",
                advice: "Take that right from them: chmod go-w \(path)"
            )
        }
        let data: Data
        do { data = try handle.read(upToCount: limit + 1) ?? Data() } catch {
            throw unreadable(path)
        }
        guard data.count <= limit, let text = String(validating: data, as: UTF8.self) else {
            throw unreadable(path)
        }
        // Some editors begin a file with a mark of its encoding, which would belong to the first name.
        guard text.unicodeScalars.first == "\u{FEFF}" else { return text }
        return String(text.unicodeScalars.dropFirst())
    }

    private static func unreadable(_ path: String) -> ToolError {
        ToolError(
            "“\(path)” cannot be read as a file of tokens",
            advice: "Give a text file of at most 1 MiB that exists and that you may read."
        )
    }
}
