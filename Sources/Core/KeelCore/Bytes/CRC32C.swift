internal import CKeelChecksum

/// The checksum CRC-32C (Castagnoli), as used by iSCSI, ext4 and many logs.
///
/// The polynomial and its reflected form are those of RFC 3720, appendix B.4. The processor's CRC instruction is used
/// if there is one; otherwise tables, after M. Kounavis and F. Berry, "A Systematic Approach to Building High
/// Performance, Software-based, CRC Generators" (2005).
package struct CRC32C: Sendable {
    private var state: UInt32 = .max

    package init() {}

    package var value: UInt32 { ~state }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard Self.isInstruction, let base = bytes.baseAddress else { return updateByTables(bytes) }
        state = keel_crc32c_update(state, base.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    /// Whether the processor has a CRC-32C instruction.
    package static let isInstruction = keel_crc32c_is_supported()

    /// Adds bytes without the processor's instruction.
    package mutating func updateByTables(_ bytes: UnsafeRawBufferPointer) {
        var state = state
        Self.tables.withUnsafeBufferPointer { tables in
            var position = 0
            while bytes.count - position >= 8 {
                let low = bytes.loadLittleEndian(at: position, as: UInt32.self) ^ state
                let high = bytes.loadLittleEndian(at: position + 4, as: UInt32.self)
                state =
                    tables[0x700 | Int(low & 0xFF)] ^ tables[0x600 | Int(low >> 8 & 0xFF)]
                    ^ tables[0x500 | Int(low >> 16 & 0xFF)] ^ tables[0x400 | Int(low >> 24)]
                    ^ tables[0x300 | Int(high & 0xFF)] ^ tables[0x200 | Int(high >> 8 & 0xFF)]
                    ^ tables[0x100 | Int(high >> 16 & 0xFF)] ^ tables[Int(high >> 24)]
                position += 8
            }
            while position < bytes.count {
                state = tables[Int((state ^ UInt32(bytes[position])) & 0xFF)] ^ state >> 8
                position += 1
            }
        }
        self.state = state
    }

    /// Adds the bytes of a number in little-endian order.
    package mutating func update(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { update($0) }
    }

    package static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var checksum = CRC32C()
        bytes.withUnsafeBytes { checksum.update($0) }
        return checksum.value
    }

    /// Returns the checksum of two concatenated parts from theirs, without reading them; `count` is the second's size
    /// in bytes.
    ///
    /// A checksum is a remainder of polynomials over GF(2). The second part shifts the first one by its number of bits,
    /// which is a multiplication by a power of x.
    package static func joined(_ first: UInt32, _ second: UInt32, count: Int) -> UInt32 {
        // x to the 8, squared for each binary digit of the count; the highest bit is x to the 0.
        var power: UInt32 = 1 << 23
        var moved = first
        var digits = count
        while digits > 0 {
            if digits & 1 == 1 { moved = product(moved, power) }
            power = product(power, power)
            digits >>= 1
        }
        return moved ^ second
    }

    /// Returns the product of two polynomials, reduced.
    private static func product(_ left: UInt32, _ right: UInt32) -> UInt32 {
        var (sum, left, right) = (UInt32(0), left, right)
        while left != 0 {
            if left & 1 << 31 != 0 { sum ^= right }
            left <<= 1
            right = right & 1 == 1 ? 0x82F6_3B78 ^ right >> 1 : right >> 1
        }
        return sum
    }

    /// Eight tables of 256 entries: table k advances a byte by k more bytes.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var value = UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? 0x82F6_3B78 ^ value >> 1 : value >> 1 }
            tables[byte] = value
        }
        for index in 256..<2048 {
            let previous = tables[index - 256]
            tables[index] = tables[Int(previous & 0xFF)] ^ previous >> 8
        }
        return tables
    }()
}
