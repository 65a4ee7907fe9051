internal import KeelCore

struct SegmentHeader: Hashable, Sendable {
    static let byteCount = 40
    private static let magic: UInt32 = 0x314C_4A4B  // "KJL1"
    private static let version: UInt16 = 1

    var number: UInt64
    /// Random for each segment.
    ///
    /// The checksums of records include it, so that a record is valid only in the segment and at
    /// the offset for which it was written.
    var id: UInt64
    var isSealed: Bool
    /// When the segment was created, in microseconds since 1970.
    var time: Int64

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        bytes.append(littleEndian: Self.magic)
        bytes.append(littleEndian: Self.version)
        bytes.append(littleEndian: UInt16(isSealed ? 1 : 0))
        bytes.append(littleEndian: number)
        bytes.append(littleEndian: id)
        bytes.append(littleEndian: time)
        bytes.append(littleEndian: UInt32(0))
        bytes.append(littleEndian: CRC32C.checksum(bytes))
        return bytes
    }
}

extension SegmentHeader {
    /// Parses a header; nil if it is corrupt, of another version or of another segment.
    init?(_ bytes: [UInt8], number: UInt64) {
        guard bytes.count >= Self.byteCount else { return nil }
        let checksum = CRC32C.checksum(Array(bytes[..<36]))
        let header = bytes.withUnsafeBytes { bytes -> SegmentHeader? in
            guard bytes.loadLittleEndian(at: 36, as: UInt32.self) == checksum,
                bytes.loadLittleEndian(at: 0, as: UInt32.self) == Self.magic,
                bytes.loadLittleEndian(at: 4, as: UInt16.self) == Self.version,
                bytes.word(at: 8) == number
            else { return nil }
            return SegmentHeader(
                number: number,
                id: bytes.word(at: 16),
                isSealed: bytes.loadLittleEndian(at: 6, as: UInt16.self) & 1 != 0,
                time: Int64(bitPattern: bytes.word(at: 24))
            )
        }
        guard let header else { return nil }
        self = header
    }
}
