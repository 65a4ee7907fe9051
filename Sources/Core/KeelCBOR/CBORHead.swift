/// The head of an item (RFC 8949 section 3): its first byte and its argument.
@usableFromInline
struct CBORHead: Sendable {
    /// The first byte: three bits of major type, five of additional information.
    @usableFromInline let initial: UInt8
    /// The value, length, count, tag number or float pattern; 0 for an indefinite length.
    @usableFromInline let argument: UInt64
    /// The index after the head.
    @usableFromInline let end: Int

    @inlinable
    init(initial: UInt8, argument: UInt64, end: Int) {
        self.initial = initial
        self.argument = argument
        self.end = end
    }

    @inlinable var majorType: UInt8 { initial >> 5 }

    /// Whether the length is indefinite; also true for a break.
    @inlinable var isIndefinite: Bool { initial & 0x1f == 31 }
}

extension CBORReader {
    @inlinable
    @inline(__always)
    func head(at index: Int) throws(CBORError) -> CBORHead {
        guard index < bytes.endIndex else { throw CBORError(.truncated, at: index) }
        let initial = bytes[index]
        let info = initial & 0x1f
        guard info >= 24 else {
            return CBORHead(initial: initial, argument: UInt64(info), end: index &+ 1)
        }
        return try longHead(initial, at: index)
    }

    /// Returns the head at `index` if its argument has its own bytes or is missing.
    @usableFromInline
    func longHead(_ initial: UInt8, at index: Int) throws(CBORError) -> CBORHead {
        let width: Int
        switch initial & 0x1f {
        case 24: width = 1
        case 25: width = 2
        case 26: width = 4
        case 27: width = 8
        default:
            // Reserved, or 31: an indefinite length, or the break that ends one.
            guard CBORKind(initialByte: initial) != nil else {
                throw CBORError(.malformed, at: index)
            }
            return CBORHead(initial: initial, argument: 0, end: index &+ 1)
        }
        let start = index &+ 1
        guard bytes.endIndex &- start >= width else { throw CBORError(.truncated, at: index) }
        let offset = start &- bytes.startIndex
        let argument: UInt64 = bytes.withUnsafeBytes { raw in
            switch width {
            case 1: UInt64(raw[offset])
            case 2: UInt64(raw.loadUnaligned(fromByteOffset: offset, as: UInt16.self).bigEndian)
            case 4: UInt64(raw.loadUnaligned(fromByteOffset: offset, as: UInt32.self).bigEndian)
            default: raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self).bigEndian
            }
        }
        // Section 3.3: a simple value in two bytes is 32 or more.
        guard initial != 0xf8 || argument >= 32 else { throw CBORError(.malformed, at: index) }
        return CBORHead(initial: initial, argument: argument, end: start &+ width)
    }

    @inlinable
    func itemCount(_ head: CBORHead, bytesEach: Int) throws(CBORError) -> Int {
        guard let count = Int(exactly: head.argument),
            count <= (bytes.endIndex - head.end) / bytesEach
        else { throw CBORError(.truncated, at: head.end) }
        return count
    }

    /// Returns the range of a definite string's bytes, if enough bytes remain.
    @inlinable
    func payload(_ head: CBORHead) throws(CBORError) -> Range<Int> {
        guard let count = Int(exactly: head.argument), count <= bytes.endIndex - head.end else {
            throw CBORError(.truncated, at: head.end)
        }
        return head.end..<(head.end + count)
    }

    @usableFromInline
    func mismatch(_ expected: CBORKind) -> CBORError {
        guard cursor < bytes.endIndex else { return CBORError(.truncated, at: cursor) }
        guard let found = CBORKind(initialByte: bytes[cursor]) else {
            return CBORError(.malformed, at: cursor)
        }
        return CBORError(.unexpected(expected: expected, found: found), at: cursor)
    }
}
