// Numbers in files are little-endian, at any alignment.

extension UnsafeRawBufferPointer {
    /// The number at a position, which has to be inside.
    @inlinable
    package func loadLittleEndian<Number: FixedWidthInteger & BitwiseCopyable>(
        at position: Int,
        as type: Number.Type
    ) -> Number {
        Number(littleEndian: loadUnaligned(fromByteOffset: position, as: type))
    }

    /// Eight bytes at a position, which has to be inside.
    @inlinable
    package func word(at position: Int) -> UInt64 {
        UInt64(littleEndian: loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }
}

extension [UInt8] {
    /// Adds a number to the end.
    @inlinable
    package mutating func append(littleEndian number: some FixedWidthInteger & BitwiseCopyable) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}

/// Reads numbers and stretches of bytes one after the other; the first one missing ends it.
package struct ByteCursor {
    private let bytes: UnsafeRawBufferPointer
    package private(set) var position: Int

    /// Begins at the start of bytes.
    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        position = 0
    }

    /// How many bytes are left.
    package var remaining: Int { bytes.count - position }

    /// The next number, nil at the end.
    package mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type)
        -> Number?
    {
        guard remaining >= MemoryLayout<Number>.size else { return nil }
        defer { position += MemoryLayout<Number>.size }
        return bytes.loadLittleEndian(at: position, as: type)
    }

    /// The next bytes, nil when there are fewer.
    package mutating func stretch(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, remaining >= count else { return nil }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
    }
}
