#if WebSocket
/// An incremental UTF-8 validator that fails at the first invalid byte.
///
/// Accepts exactly the well-formed sequences of The Unicode Standard, table 3-7: no overlong forms,
/// no surrogates, nothing beyond U+10FFFF.
struct UTF8Validator: Equatable, Sendable {
    /// The number of missing continuation bytes of the current character.
    private var missing = 0
    /// The valid range of the next continuation byte; only a character's second byte is narrowed.
    private var next: ClosedRange<UInt8> = 0x80...0xbf

    var isComplete: Bool { missing == 0 }

    /// Validates the next bytes of the text; returns whether the text can still become valid.
    mutating func accept(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        while position < bytes.count {
            if missing == 0 {
                position = skipASCII(bytes, from: position)
                guard position < bytes.count else { return true }
            }
            guard accept(bytes[position]) else { return false }
            position += 1
        }
        return true
    }

    private func skipASCII(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var position = start
        while position + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            guard word & 0x8080_8080_8080_8080 == 0 else { break }
            position += 8
        }
        while position < bytes.count, bytes[position] < 0x80 { position += 1 }
        return position
    }

    private mutating func accept(_ byte: UInt8) -> Bool {
        if missing > 0 {
            guard next.contains(byte) else { return false }
            missing -= 1
            next = 0x80...0xbf
            return true
        }
        switch byte {
        case 0x00...0x7f: return true
        case 0xc2...0xdf: (missing, next) = (1, 0x80...0xbf)
        case 0xe0: (missing, next) = (2, 0xa0...0xbf)
        case 0xed: (missing, next) = (2, 0x80...0x9f)
        case 0xe1...0xef: (missing, next) = (2, 0x80...0xbf)
        case 0xf0: (missing, next) = (3, 0x90...0xbf)
        case 0xf1...0xf3: (missing, next) = (3, 0x80...0xbf)
        case 0xf4: (missing, next) = (3, 0x80...0x8f)
        default: return false
        }
        return true
    }
}
#endif
