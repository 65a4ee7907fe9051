/// The width of text in the columns of a terminal.
///
/// Wide characters of East Asian scripts and emoji have two columns, and combining characters alone none.
package enum TextWidth {
    /// Returns the columns of a text without control characters.
    package static func of(_ text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + of($1) }
    }

    /// Returns the columns of a character: 0, 1 or 2.
    package static func of(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        if first.isASCII, scalars.count == 1 { return first.value < 32 ? 0 : 1 }
        if isWide(first) || scalars.contains(where: { $0.value == 0xFE0F }) { return 2 }
        // A pair of regional indicators is a flag.
        if first.properties.isEmojiModifierBase, scalars.count > 1 { return 2 }
        if (0x1F1E6...0x1F1FF).contains(first.value) { return scalars.count > 1 ? 2 : 1 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .control, .format: return 0
        default: return 1
        }
    }

    /// Returns the text, or its longest beginning that fits into a number of columns with “…”.
    package static func truncated(_ text: String, to width: Int) -> String {
        guard of(text) > width else { return text }
        guard width > 0 else { return "" }
        return prefix(of: text, width: width - 1) + "…"
    }

    /// Returns the longest beginning of a text that fits into a number of columns.
    package static func prefix(of text: some StringProtocol, width: Int) -> String {
        var left = width
        return String(
            text.prefix { character in
                left -= of(character)
                return left >= 0
            }
        )
    }

    package static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - of(text)))
    }

    /// Returns a text with U+FFFD in place of control characters.
    package static func harmless(_ text: String) -> String {
        var safe = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            safe.append(scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar)
        }
        return String(safe)
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isEmojiPresentation && !(0x1F1E6...0x1F1FF).contains(scalar.value)
            || wide.contains { $0.contains(scalar.value) }
    }

    /// The ranges with the values W and F of Unicode's property East_Asian_Width, without emoji.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF,
        0x4E00...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19,
        0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18D08, 0x1AFF0...0x1B2FB,
        0x1F200...0x1F202, 0x1F210...0x1F23B, 0x1F240...0x1F248, 0x20000...0x2FFFD,
        0x30000...0x3FFFD,
    ]
}
