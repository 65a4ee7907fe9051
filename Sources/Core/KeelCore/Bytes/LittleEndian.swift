// Numbers in files are little-endian, at any alignment.

extension UnsafeRawBufferPointer {
    @inlinable
    package func loadLittleEndian<Number: FixedWidthInteger & BitwiseCopyable>(
        at position: Int,
        as type: Number.Type
    ) -> Number {
        Number(littleEndian: loadUnaligned(fromByteOffset: position, as: type))
    }

    @inlinable
    package func word(at position: Int) -> UInt64 {
        UInt64(littleEndian: loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }
}

extension [UInt8] {
    /// Creates the bytes of numbers.
    package init(littleEndian numbers: [some FixedWidthInteger & BitwiseCopyable]) {
        self = []
        for number in numbers { append(littleEndian: number) }
    }

    @inlinable
    package mutating func append(littleEndian number: some FixedWidthInteger & BitwiseCopyable) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}

// Numbers in cursors, checksums and the headers of encrypted files are big-endian.

extension FixedWidthInteger {
    /// Creates a number from its bytes, the most significant first.
    @inlinable
    package init(bigEndianBytes bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }

    /// The bytes of the number, the most significant first.
    package var bigEndianBytes: [UInt8] {
        stride(from: Self.bitWidth - 8, through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: self >> $0)
        }
    }
}

/// A reader of consecutive little-endian numbers and byte ranges.
package struct ByteCursor {
    private let bytes: UnsafeRawBufferPointer
    package private(set) var position: Int

    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        position = 0
    }

    package var remaining: Int { bytes.count - position }

    package mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type)
        -> Number?
    {
        guard remaining >= MemoryLayout<Number>.size else { return nil }
        defer { position += MemoryLayout<Number>.size }
        return bytes.loadLittleEndian(at: position, as: type)
    }

    package mutating func stretch(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, remaining >= count else { return nil }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
    }
}
