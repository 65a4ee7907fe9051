/// A pressed key, or pasted text.
package enum Key: Hashable, Sendable {
    /// A scalar of a character.
    case scalar(Unicode.Scalar)
    /// A letter pressed with Control, without those that are other keys: H, I, J and M.
    case control(Character)
    case enter, tab, backspace, delete, escape
    case up, down, left, right, home, end
    case wordLeft, wordRight, wordBackspace
    /// Pasted text, which may have several lines, if the terminal marks it.
    case paste(String)
}

/// Parses the bytes of a terminal into keys.
package struct KeyParser: Sendable {
    private enum State: Hashable, Sendable {
        case ground
        case scalar(length: Int)
        case escape
        /// A sequence after Escape and `[` or `O`.
        case sequence
        case paste
    }

    private var state = State.ground
    private var bytes: [UInt8] = []

    package init() {}

    /// Whether the last byte is either the Escape key or the beginning of a sequence.
    package var isUndecided: Bool { state == .escape }

    /// Parses the next byte.
    ///
    /// - Returns: The key that the byte completes; nil if more bytes are needed, or for an unknown key.
    package mutating func key(_ byte: UInt8) -> Key? {
        switch state {
        case .ground: return begin(byte)
        case .scalar(let length):
            bytes.append(byte)
            guard bytes.count == length else { return nil }
            state = .ground
            let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars
            return scalars.first.map { .scalar($0) }
        case .escape:
            state = .ground
            switch byte {
            case UInt8(ascii: "["), UInt8(ascii: "O"):
                state = .sequence
                bytes = []
                return nil
            case UInt8(ascii: "b"): return .wordLeft
            case UInt8(ascii: "f"): return .wordRight
            case 8, 127: return .wordBackspace
            // Also the Escape of another sequence, which terminals send for an arrow pressed with Alt.
            case ..<0x20: return begin(byte)
            default: return .escape
            }
        case .sequence:
            bytes.append(byte)
            guard (0x40...0x7E).contains(byte) else { return nil }
            state = .ground
            return sequence()
        case .paste:
            bytes.append(byte)
            let end = Array("\u{1B}[201~".utf8)
            guard bytes.suffix(end.count) == end[...] else { return nil }
            state = .ground
            return .paste(String(decoding: bytes.dropLast(end.count), as: UTF8.self))
        }
    }

    /// Ends the wait for further bytes; returns the Escape key if it was pressed alone.
    package mutating func end() -> Key? {
        guard isUndecided else { return nil }
        state = .ground
        return .escape
    }

    private mutating func begin(_ byte: UInt8) -> Key? {
        switch byte {
        case 0x1B:
            state = .escape
            return nil
        case 10, 13: return .enter
        case 9: return .tab
        case 8, 127: return .backspace
        case 1...26: return .control(Character(Unicode.Scalar(byte + 96)))
        case 0x20..<0x80: return .scalar(Unicode.Scalar(byte))
        case 0xC2...0xF4:
            state = .scalar(length: byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4)
            bytes = [byte]
            return nil
        default: return nil
        }
    }

    private mutating func sequence() -> Key? {
        let text = String(decoding: bytes, as: UTF8.self)
        switch text {
        case "A": return .up
        case "B": return .down
        case "C": return .right
        case "D": return .left
        case "H", "1~", "7~": return .home
        case "F", "4~", "8~": return .end
        case "3~": return .delete
        case "1;5C", "1;3C", "1;9C": return .wordRight
        case "1;5D", "1;3D", "1;9D": return .wordLeft
        case "200~":
            state = .paste
            bytes = []
            return nil
        default: return nil
        }
    }
}
