/// A cursor over encoded CBOR items (RFC 8949).
///
/// The reader works in place. It is safe with hostile bytes: every length is checked against the remaining bytes,
/// nothing traps, and nesting is limited. A read that throws does not change ``position``, so the caller can try
/// another kind. Positions are indices of the given array or slice.
package struct CBORReader: Sendable {
    /// The maximum nesting of an item that is skipped or decoded as a tree, which fits the 512 KiB stack of a thread.
    package static let nestingLimit = 512

    package let bytes: ArraySlice<UInt8>

    @usableFromInline
    var cursor: Int

    @inlinable
    package init(_ bytes: [UInt8]) {
        self.init(bytes[...])
    }

    /// Creates a reader at the start of `bytes`, keeping their indices.
    @inlinable
    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        cursor = bytes.startIndex
    }

    /// The index of the next item; a new value must be an index of the bytes or their end.
    @inlinable
    package var position: Int {
        get { cursor }
        set {
            precondition(
                newValue >= bytes.startIndex && newValue <= bytes.endIndex,
                "a position lies within the bytes"
            )
            cursor = newValue
        }
    }

    @inlinable
    package var isAtEnd: Bool { cursor == bytes.endIndex }

    /// Throws if bytes follow the items read so far.
    @inlinable
    package func finish() throws(CBORError) {
        guard isAtEnd else { throw CBORError(.trailingBytes, at: cursor) }
    }

    /// Returns the kind of the next item without reading it.
    @inlinable
    package func peekKind() throws(CBORError) -> CBORKind {
        guard cursor < bytes.endIndex else { throw CBORError(.truncated, at: cursor) }
        guard let kind = CBORKind(initialByte: bytes[cursor]) else {
            throw CBORError(.malformed, at: cursor)
        }
        return kind
    }

    // MARK: Scalars

    /// Reads an integer of either sign.
    @inlinable
    package mutating func readInteger() throws(CBORError) -> Int64 {
        let head = try head(at: cursor)
        guard head.majorType <= 1 else { throw mismatch(.unsigned) }
        guard let magnitude = Int64(exactly: head.argument) else {
            throw CBORError(.integerOverflow, at: cursor)
        }
        cursor = head.end
        return head.majorType == 0 ? magnitude : ~magnitude
    }

    /// Reads an integer of major type 0.
    @inlinable
    package mutating func readUnsigned() throws(CBORError) -> UInt64 {
        let head = try head(at: cursor)
        guard head.majorType == 0 else { throw mismatch(.unsigned) }
        cursor = head.end
        return head.argument
    }

    /// Reads an integer of major type 1 and returns its argument n; the integer is −1 − n.
    @inlinable
    package mutating func readNegative() throws(CBORError) -> UInt64 {
        let head = try head(at: cursor)
        guard head.majorType == 1 else { throw mismatch(.negative) }
        cursor = head.end
        return head.argument
    }

    /// Reads a floating-point number of any width, but not an integer.
    @inlinable
    package mutating func readDouble() throws(CBORError) -> Double {
        let head = try head(at: cursor)
        let value: Double
        switch head.initial {
        case 0xf9: value = CBORFloat.double(half: UInt16(truncatingIfNeeded: head.argument))
        case 0xfa:
            value = Double(Float(bitPattern: UInt32(truncatingIfNeeded: head.argument)))
        case 0xfb: value = Double(bitPattern: head.argument)
        default: throw mismatch(.float)
        }
        cursor = head.end
        return value
    }

    @inlinable
    package mutating func readBoolean() throws(CBORError) -> Bool {
        let head = try head(at: cursor)
        guard head.initial & 0xfe == 0xf4 else { throw mismatch(.boolean) }
        cursor = head.end
        return head.initial == 0xf5
    }

    @inlinable
    package mutating func readNull() throws(CBORError) {
        guard readNullIfPresent() else { throw mismatch(.null) }
    }

    /// Reads `null` if it is next, and returns whether it was.
    @inlinable
    package mutating func readNullIfPresent() -> Bool {
        guard cursor < bytes.endIndex, bytes[cursor] == 0xf6 else { return false }
        cursor &+= 1
        return true
    }

    /// Reads the number of a simple value; the booleans, null and undefined are 20 to 23.
    package mutating func readSimple() throws(CBORError) -> UInt8 {
        let head = try head(at: cursor)
        guard head.majorType == 7, head.initial <= 0xf8 else { throw mismatch(.simple) }
        cursor = head.end
        return UInt8(truncatingIfNeeded: head.argument)
    }

    // MARK: Containers

    /// Reads the head of an array and returns the number of items, or nil if a break (``readBreakIfPresent()``) ends
    /// them.
    ///
    /// The count is at most the number of remaining bytes; limit the capacity reserved for it, because nested heads may
    /// each claim as much.
    @inlinable
    package mutating func readArrayHeader() throws(CBORError) -> Int? {
        let head = try head(at: cursor)
        guard head.majorType == 4 else { throw mismatch(.array) }
        let count = head.isIndefinite ? nil : try itemCount(head, bytesEach: 1)
        cursor = head.end
        return count
    }

    /// Reads the head of a map and returns the number of pairs, or nil if a break (``readBreakIfPresent()``) ends them.
    ///
    /// The count is at most half the number of remaining bytes.
    @inlinable
    package mutating func readMapHeader() throws(CBORError) -> Int? {
        let head = try head(at: cursor)
        guard head.majorType == 5 else { throw mismatch(.map) }
        let count = head.isIndefinite ? nil : try itemCount(head, bytesEach: 2)
        cursor = head.end
        return count
    }

    /// Reads a break if it is next, and returns whether it was.
    @inlinable
    package mutating func readBreakIfPresent() -> Bool {
        guard cursor < bytes.endIndex, bytes[cursor] == 0xff else { return false }
        cursor &+= 1
        return true
    }

    /// Reads a tag, which applies to the next item.
    @inlinable
    package mutating func readTag() throws(CBORError) -> UInt64 {
        let head = try head(at: cursor)
        guard head.majorType == 6 else { throw mismatch(.tag) }
        cursor = head.end
        return head.argument
    }
}
