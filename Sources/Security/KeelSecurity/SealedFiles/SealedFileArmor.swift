#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The text form of sealed files.
///
/// The text is base64 in lines of 64 characters, between a line `-----BEGIN KEEL SEALED FILE-----` and one with `END`.
public enum SealedFileArmor: Sendable {
    static let begin = "-----BEGIN KEEL SEALED FILE-----"
    static let end = "-----END KEEL SEALED FILE-----"
    static let lineByteCount = 48
    static let newline = UInt8(ascii: "\n")

    /// Returns whether a file begins as text in this form.
    ///
    /// - Parameter beginning: The first bytes of the file; white space before the text is ignored.
    /// - Returns: Nil if more bytes are needed to know.
    public static func isArmored(_ beginning: Data) -> Bool? {
        let start = beginning.drop { isSpace($0) }
        let wanted = begin.utf8
        guard start.elementsEqual(wanted.prefix(start.count)) else {
            return start.starts(with: wanted)
        }
        return start.count < wanted.count ? nil : true
    }

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == newline || byte == UInt8(ascii: "\r") || byte == UInt8(ascii: " ")
            || byte == UInt8(ascii: "\t")
    }
}

/// Writes a sealed file as text, piece by piece.
public struct SealedFileArmorer: Sendable {
    private var waiting = Data()
    private var hasBegun = false

    /// Creates a writer.
    public init() {}

    /// Returns the next text.
    ///
    /// - Parameter piece: The next bytes, in any number.
    /// - Returns: The next whole lines, often none.
    public mutating func update(_ piece: Data) -> Data {
        waiting.append(piece)
        let count = waiting.count / SealedFileArmor.lineByteCount * SealedFileArmor.lineByteCount
        defer { waiting = Data(waiting.dropFirst(count)) }
        return beginning() + lines(Data(waiting.prefix(count)))
    }

    /// Ends the text and returns its last lines.
    public mutating func finish() -> Data {
        beginning() + lines(waiting) + Data("\(SealedFileArmor.end)\n".utf8)
    }

    private mutating func beginning() -> Data {
        defer { hasBegun = true }
        return hasBegun ? Data() : Data("\(SealedFileArmor.begin)\n".utf8)
    }

    private func lines(_ bytes: Data) -> Data {
        guard !bytes.isEmpty else { return Data() }
        var text = bytes.base64EncodedData(options: [.lineLength64Characters, .endLineWithLineFeed])
        if text.last != SealedFileArmor.newline { text.append(SealedFileArmor.newline) }
        return text
    }
}

/// Reads the text of a sealed file, piece by piece.
///
/// The reader accepts both kinds of line ends and white space around the text, and refuses other text before and after
/// it.
public struct SealedFileDearmorer: Sendable {
    private enum Phase {
        case beginning
        case reading
        /// A line shorter than the others was read, which must be the last one.
        case short
        case ended
    }

    private var phase = Phase.beginning
    private var waiting = Data()

    /// Creates a reader.
    public init() {}

    /// Returns the next bytes of the sealed file.
    ///
    /// - Parameter piece: The next text, of any length.
    /// - Returns: The next bytes, often none.
    /// - Throws: `decryptionFailed` for damaged text.
    public mutating func update(_ piece: Data) throws(SecurityError) -> Data {
        waiting.append(piece)
        guard let last = waiting.lastIndex(of: SealedFileArmor.newline) else {
            // White space before the text is not limited; a line is.
            guard waiting.count < 4096 else { throw Self.refusal }
            return Data()
        }
        let block = waiting[...last]
        let output = try read(block)
        waiting = Data(waiting[waiting.index(after: last)...])
        return output
    }

    /// Ends the text, and verifies that its last line was there.
    ///
    /// - Returns: The last bytes.
    /// - Throws: `decryptionFailed` for damaged or truncated text.
    public mutating func finish() throws(SecurityError) -> Data {
        let output = try read(waiting)
        waiting = Data()
        guard phase == .ended else { throw Self.refusal }
        return output
    }

    private mutating func read(_ block: Data) throws(SecurityError) -> Data {
        guard !block.isEmpty else { return Data() }
        var text = Data(capacity: block.count)
        let lines = block.last == SealedFileArmor.newline ? block.dropLast() : block
        let newline = SealedFileArmor.newline
        for line in lines.split(separator: newline, omittingEmptySubsequences: false) {
            try add(line, to: &text)
        }
        guard let bytes = Data(base64Encoded: text) else { throw Self.refusal }
        return bytes
    }

    private mutating func add(_ line: Data, to text: inout Data) throws(SecurityError) {
        var line = line
        if phase == .beginning || phase == .ended {
            line = line.drop { SealedFileArmor.isSpace($0) }
        }
        while let byte = line.last, SealedFileArmor.isSpace(byte) { line.removeLast() }
        guard !line.isEmpty else {
            // Empty lines stand around the text, not in it.
            guard phase == .beginning || phase == .ended else { throw Self.refusal }
            return
        }
        switch phase {
        case .beginning:
            guard line.elementsEqual(SealedFileArmor.begin.utf8) else { throw Self.refusal }
            phase = .reading
        case .ended:
            throw Self.refusal
        case .reading, .short:
            if line.elementsEqual(SealedFileArmor.end.utf8) {
                phase = .ended
                return
            }
            guard phase == .reading, line.count <= 64 else { throw Self.refusal }
            if line.count < 64 || line.last == UInt8(ascii: "=") { phase = .short }
            text.append(line)
        }
    }

    private static let refusal = SecurityError(
        .decryptionFailed,
        "the text of the sealed file is damaged or truncated"
    )
}
