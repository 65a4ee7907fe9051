internal import KeelCore

/// The header of each record of a segment: 72 bytes.
struct RecordHeader: Hashable, Sendable {
    static let byteCount = 72
    /// The first bytes of each record, by which reading resynchronizes after damage.
    static let magic: UInt32 = 0x3152_434B  // "KCR1"
    static let longestPayload = 1 << 28

    enum Kind: UInt8, Sendable {
        /// A key has a value.
        case entry = 1
        /// A key was removed.
        case removedKey = 2
        /// All entries with a tag written before this record were removed.
        case removedTag = 3
        /// All entries written before this record that expire by a time were removed.
        case removedExpired = 4
    }

    struct Flags: OptionSet, Hashable, Sendable {
        let rawValue: UInt8
        static let sealed = Self(rawValue: 1)
        static let inFile = Self(rawValue: 2)
        /// The value was written as a file, and is read as one.
        static let asFile = Self(rawValue: 4)
        static let hasStaleAfter = Self(rawValue: 8)
        static let hasExpires = Self(rawValue: 16)
    }

    var kind: Kind
    var flags: Flags = []
    /// The number of the compression method, or 0 for none.
    var compression: UInt8 = 0
    var hash: UInt64 = 0
    var sequence: UInt64 = 0
    /// Times in microseconds since 1970.
    var created: Int64 = 0
    var staleAfter: Int64 = 0
    var expires: Int64 = 0
    /// The number of bytes after the header.
    var payloadByteCount = 0
    var keyByteCount = 0
    var payloadChecksum: UInt64 = 0

    var recordByteCount: Int { Self.byteCount + payloadByteCount }

    func append(to bytes: inout [UInt8], seed: UInt64) {
        let start = bytes.count
        bytes.append(littleEndian: Self.magic)
        bytes.append(kind.rawValue)
        bytes.append(flags.rawValue)
        bytes.append(compression)
        bytes.append(0)
        bytes.append(littleEndian: hash)
        bytes.append(littleEndian: sequence)
        bytes.append(littleEndian: created)
        bytes.append(littleEndian: staleAfter)
        bytes.append(littleEndian: expires)
        bytes.append(littleEndian: UInt32(payloadByteCount))
        bytes.append(littleEndian: UInt32(keyByteCount))
        bytes.append(littleEndian: payloadChecksum)
        let checksum = bytes.withUnsafeBytes { bytes in
            XXHash64.hash(UnsafeRawBufferPointer(rebasing: bytes[start...]), seed: seed)
        }
        bytes.append(littleEndian: checksum)
    }

    /// Returns the seed of a header's checksum, which makes the header valid only at its position.
    static func seed(segment id: UInt64, offset: Int) -> UInt64 {
        id ^ (UInt64(offset) &* 0x9E37_79B9_7F4A_7C15)
    }
}

extension RecordHeader {
    init?(_ bytes: UnsafeRawBufferPointer, seed: UInt64) {
        guard bytes.count >= Self.byteCount,
            bytes.loadLittleEndian(at: 0, as: UInt32.self) == Self.magic,
            bytes.word(at: 64)
                == XXHash64.hash(UnsafeRawBufferPointer(rebasing: bytes[..<64]), seed: seed),
            let kind = Kind(rawValue: bytes[4])
        else { return nil }
        self.kind = kind
        flags = Flags(rawValue: bytes[5])
        compression = bytes[6]
        hash = bytes.word(at: 8)
        sequence = bytes.word(at: 16)
        created = bytes.loadLittleEndian(at: 24, as: Int64.self)
        staleAfter = bytes.loadLittleEndian(at: 32, as: Int64.self)
        expires = bytes.loadLittleEndian(at: 40, as: Int64.self)
        payloadByteCount = Int(bytes.loadLittleEndian(at: 48, as: UInt32.self))
        keyByteCount = Int(bytes.loadLittleEndian(at: 52, as: UInt32.self))
        payloadChecksum = bytes.word(at: 56)
        guard payloadByteCount <= Self.longestPayload, keyByteCount <= payloadByteCount else {
            return nil
        }
    }

    func isIntact(_ payload: UnsafeRawBufferPointer) -> Bool {
        payload.count == payloadByteCount && XXHash64.hash(payload) == payloadChecksum
    }
}
