/// A seeded hash of keys to 64 bits, unpredictable outside the table.
///
/// Integers and ASCII strings use a seeded full-width multiplication like that of Wang Yi's wyhash, and all other keys
/// `Hasher`.
@usableFromInline
struct KeySeed: Sendable {
    @usableFromInline let first: UInt64
    @usableFromInline let second: UInt64

    @usableFromInline
    init() {
        first = .random(in: .min ... .max)
        // An even factor would lose the highest bit.
        second = .random(in: .min ... .max) | 1
    }

    @inlinable
    func hash<Key: Hashable>(_ key: Key) -> UInt64 {
        if Key.self == Int.self {
            return mix(UInt64(bitPattern: Int64(unsafeBitCast(key, to: Int.self))))
        }
        if Key.self == Int64.self {
            return mix(UInt64(bitPattern: unsafeBitCast(key, to: Int64.self)))
        }
        if Key.self == UInt64.self { return mix(unsafeBitCast(key, to: UInt64.self)) }
        if Key.self == String.self {
            return hash(string: unsafeBitCast(key, to: String.self))
        }
        return hash(other: key)
    }

    @inlinable
    func mix(_ bits: UInt64) -> UInt64 { Self.fold(bits ^ first, second) }

    @inlinable
    static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }

    @inlinable
    func hash<Key: Hashable>(other key: Key) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(key)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    @inlinable
    func hash(string: String) -> UInt64 {
        let contiguous = string.utf8.withContiguousStorageIfAvailable { bytes -> UInt64? in
            ascii(UnsafeRawBufferPointer(bytes))
        }
        if case .some(.some(let hash)) = contiguous { return hash }
        return hash(beyondASCII: string)
    }

    @inlinable
    func ascii(_ bytes: UnsafeRawBufferPointer) -> UInt64? {
        let count = bytes.count
        var state = first ^ UInt64(truncatingIfNeeded: count)
        var seen: UInt64 = 0
        var offset = 0
        while count - offset >= 16 {
            let left = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let right = bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
            seen |= left | right
            state = Self.fold(left ^ second, right ^ state)
            offset += 16
        }
        var left: UInt64 = 0
        var right: UInt64 = 0
        if count - offset >= 8 {
            left = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            right = bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        } else {
            while offset < count {
                left = left << 8 | UInt64(bytes[offset])
                offset += 1
            }
        }
        seen |= left | right
        guard seen & 0x8080_8080_8080_8080 == 0 else { return nil }
        state = Self.fold(left ^ second, right ^ state)
        return Self.fold(state ^ first, second)
    }

    /// Returns the hash of a string that is not ASCII, equal for canonically equivalent strings.
    ///
    /// Three characters are equivalent to an ASCII one (Unicode 16, UnicodeData.txt), so a string
    /// of them must hash like its ASCII form.
    @usableFromInline
    func hash(beyondASCII string: String) -> UInt64 {
        var bytes: [UInt8] = []
        for scalar in string.unicodeScalars {
            switch scalar.value {
            case 0..<0x80: bytes.append(UInt8(scalar.value))
            case 0x37E: bytes.append(UInt8(ascii: ";"))
            case 0x1FEF: bytes.append(UInt8(ascii: "`"))
            case 0x212A: bytes.append(UInt8(ascii: "K"))
            default: return hash(other: string)
            }
        }
        return bytes.withUnsafeBytes { ascii($0) } ?? hash(other: string)
    }
}
