internal import KeelCore

/// What stands before each record of a segment: 72 bytes.
struct RecordHeader: Hashable, Sendable {
    /// The length of a header.
    static let byteCount = 72
    /// The first bytes of each record, by which reading finds its way again after damage.
    static let magic: UInt32 = 0x3152_434B  // "KCR1"
    /// The longest that the bytes after the header may be.
    static let longestPayload = 1 << 28

    /// What a record says.
    enum Kind: UInt8, Sendable {
        /// A key has a value.
        case entry = 1
        /// A key has none any more.
        case removedKey = 2
        /// What was written with a tag before this record is gone.
        case removedTag = 3
        /// What expires up to a time, and was written before this record, is gone.
        case removedExpired = 4
    }

    /// How a record is kept.
    struct Flags: OptionSet, Hashable, Sendable {
        let rawValue: UInt8
        /// Key, tags and value are sealed.
        static let sealed = Self(rawValue: 1)
        /// The value is in a file of its own.
        static let inFile = Self(rawValue: 2)
        /// The value was given as a file, and is read as one.
        static let asFile = Self(rawValue: 4)
        /// There is a time after which the value is stale.
        static let hasStaleAfter = Self(rawValue: 8)
        /// There is a time at which the entry expires.
        static let hasExpires = Self(rawValue: 16)
    }

    var kind: Kind
    var flags: Flags = []
    /// How the value is compressed, 0 for not.
    var compression: UInt8 = 0
    /// The hash of the stored key.
    var hash: UInt64 = 0
    /// The place of the record in the order of all.
    var sequence: UInt64 = 0
    /// Times in microseconds since 1970.
    var created: Int64 = 0
    var staleAfter: Int64 = 0
    var expires: Int64 = 0
    /// How many bytes follow the header.
    var payloadByteCount = 0
    /// How many of them are the stored key.
    var keyByteCount = 0
    /// The checksum of the bytes after the header.
    var payloadChecksum: UInt64 = 0

    /// The length of the whole record.
    var recordByteCount: Int { Self.byteCount + payloadByteCount }

    /// Adds the header to a segment's bytes.
    ///
    /// - Parameters:
    ///   - bytes: What grows.
    ///   - seed: The checksum's seed for the place; see ``seed(segment:offset:)``.
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

    /// What the checksum of a header begins with, so that it is valid at its place only.
    static func seed(segment id: UInt64, offset: Int) -> UInt64 {
        id ^ (UInt64(offset) &* 0x9E37_79B9_7F4A_7C15)
    }
}

extension RecordHeader {
    /// Reads the header at the start of bytes, nil when it is damaged.
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

    /// Whether the bytes after a header are those that were written.
    func isIntact(_ payload: UnsafeRawBufferPointer) -> Bool {
        payload.count == payloadByteCount && XXHash64.hash(payload) == payloadChecksum
    }
}
