/// A writer that appends CBOR items (RFC 8949) to a byte array.
///
/// Every head and every float has its shortest form (section 4.2.1), and lengths are always definite. The output is
/// deterministic if the caller writes the keys of each map once and in order (a shorter text comes before a longer
/// one). The caller ensures that each header is followed by its number of items.
package struct CBORWriter: Sendable {
    package var bytes: [UInt8]

    @inlinable
    package init(capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Creates a writer that appends to `bytes`, such as a reused buffer.
    @inlinable
    package init(appendingTo bytes: consuming [UInt8]) {
        self.bytes = bytes
    }

    // MARK: Scalars

    @inlinable
    package mutating func null() {
        bytes.append(0xf6)
    }

    @inlinable
    package mutating func undefined() {
        bytes.append(0xf7)
    }

    @inlinable
    package mutating func boolean(_ value: Bool) {
        bytes.append(value ? 0xf5 : 0xf4)
    }

    @inlinable
    package mutating func integer(_ value: Int64) {
        // The argument of a negative integer is −1 − n, the complement of n (section 3.1).
        if value >= 0 {
            head(0x00, UInt64(bitPattern: value))
        } else {
            head(0x20, UInt64(bitPattern: ~value))
        }
    }

    @inlinable
    package mutating func unsigned(_ value: UInt64) {
        head(0x00, value)
    }

    /// Writes the integer −1 − `complement`, which may be less than `Int64.min`.
    @inlinable
    package mutating func negative(_ complement: UInt64) {
        head(0x20, complement)
    }

    /// Writes a simple value (RFC 8949 section 3.3), which must not be 24 to 31; 20 to 23 are the booleans, null and
    /// undefined.
    package mutating func simple(_ value: UInt8) {
        precondition(!(24...31).contains(value), "CBOR reserves the simple values 24 to 31")
        head(0xe0, UInt64(value))
    }

    /// Writes a number in the shortest of the three widths that preserves its bits.
    ///
    /// The sign of zero is preserved. Every NaN becomes `f97e00` (section 4.2.2).
    @inlinable
    package mutating func double(_ value: Double) {
        let single = Float(value)
        if Double(single).bitPattern == value.bitPattern, !value.isNaN {
            if let half = CBORFloat.half(exactly: single) {
                fixed(0xf9, UInt64(half) << 48, width: 2)
            } else {
                fixed(0xfa, UInt64(single.bitPattern) << 32, width: 4)
            }
        } else if value.isNaN {
            fixed(0xf9, UInt64(CBORFloat.canonicalNaN) << 48, width: 2)
        } else {
            fixed(0xfb, value.bitPattern, width: 8)
        }
    }

    // MARK: Strings

    @inlinable
    package mutating func text(_ value: String) {
        // Contiguous except for strings bridged from Foundation on Apple platforms.
        let written: Void? = value.utf8.withContiguousStorageIfAvailable { utf8 in
            head(0x60, UInt64(utf8.count))
            bytes.append(contentsOf: utf8)
        }
        guard written == nil else { return }
        var value = value
        value.withUTF8 { string(0x60, $0) }
    }

    /// Writes a text string from bytes that must be UTF-8.
    @inlinable
    package mutating func text(utf8: some Collection<UInt8>) {
        string(0x60, utf8)
    }

    @inlinable
    package mutating func byteString(_ value: some Collection<UInt8>) {
        string(0x40, value)
    }

    // MARK: Containers

    /// Starts an array of `count` items, which follow.
    @inlinable
    package mutating func arrayHeader(_ count: Int) {
        head(0x80, UInt64(count))
    }

    /// Starts a map of `count` pairs, which follow as key, value, key, value.
    @inlinable
    package mutating func mapHeader(_ count: Int) {
        head(0xa0, UInt64(count))
    }

    @inlinable
    package mutating func tag(_ number: UInt64) {
        head(0xc0, number)
    }

    // MARK: Heads

    @inlinable
    @inline(__always)
    mutating func head(_ majorType: UInt8, _ argument: UInt64) {
        if argument < 24 {
            bytes.append(majorType | UInt8(truncatingIfNeeded: argument))
        } else {
            longHead(majorType, argument)
        }
    }

    @usableFromInline
    mutating func longHead(_ majorType: UInt8, _ argument: UInt64) {
        switch argument {
        case ...0xff: fixed(majorType | 24, argument << 56, width: 1)
        case ...0xffff: fixed(majorType | 25, argument << 48, width: 2)
        case ...0xffff_ffff: fixed(majorType | 26, argument << 32, width: 4)
        default: fixed(majorType | 27, argument, width: 8)
        }
    }

    /// Writes an initial byte and the top `width` bytes of `argument`, most significant first.
    @inlinable
    @inline(__always)
    mutating func fixed(_ initial: UInt8, _ argument: UInt64, width: Int) {
        bytes.append(initial)
        for shift in stride(from: 56, to: 56 &- 8 &* width, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: argument >> UInt64(shift)))
        }
    }

    @inlinable
    @inline(__always)
    mutating func string(_ majorType: UInt8, _ content: some Collection<UInt8>) {
        let written: Void? = content.withContiguousStorageIfAvailable { buffer in
            head(majorType, UInt64(buffer.count))
            bytes.append(contentsOf: buffer)
        }
        guard written == nil else { return }
        head(majorType, UInt64(content.count))
        bytes.append(contentsOf: content)
    }
}
