internal import KeelCore

struct SegmentHeader: Hashable, Sendable {
    static let byteCount = 64
    private static let magic: UInt32 = 0x3153_434B  // "KCS1"
    private static let version: UInt16 = 1

    var number: UInt32
    /// A random number on which the checksums of the records depend; see ``RecordHeader/seed(segment:offset:)``.
    var id: UInt64
    var hash: SipHash24
    /// The sequence number of the first record, above that of any earlier record.
    var firstSequence: UInt64
    var isSealed: Bool
    var isBarrier: Bool

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        bytes.append(littleEndian: Self.magic)
        bytes.append(littleEndian: Self.version)
        bytes.append(littleEndian: UInt16((isSealed ? 1 : 0) | (isBarrier ? 2 : 0)))
        bytes.append(littleEndian: UInt64(number))
        bytes.append(littleEndian: id)
        bytes.append(littleEndian: hash.first)
        bytes.append(littleEndian: hash.second)
        bytes.append(littleEndian: firstSequence)
        bytes.append(littleEndian: UInt64(0))
        bytes.append(littleEndian: XXHash64.hash(bytes))
        return bytes
    }
}

extension SegmentHeader {
    init?(_ bytes: UnsafeRawBufferPointer, number: UInt32) {
        guard bytes.count >= Self.byteCount,
            bytes.word(at: 56) == XXHash64.hash(UnsafeRawBufferPointer(rebasing: bytes[..<56])),
            bytes.loadLittleEndian(at: 0, as: UInt32.self) == Self.magic,
            bytes.loadLittleEndian(at: 4, as: UInt16.self) == Self.version,
            bytes.word(at: 8) == UInt64(number)
        else { return nil }
        let flags = bytes.loadLittleEndian(at: 6, as: UInt16.self)
        self.init(
            number: number,
            id: bytes.word(at: 16),
            hash: SipHash24(first: bytes.word(at: 24), second: bytes.word(at: 32)),
            firstSequence: bytes.word(at: 40),
            isSealed: flags & 1 != 0,
            isBarrier: flags & 2 != 0
        )
    }
}
