internal import KeelCore

/// The checksum of the tier's files: XXH64.
///
/// Detects damage, not manipulation; sealing detects that. Source: Yann Collet, "xxHash fast digest algorithm", XXH64
/// of the specification, version 0.1.1.
enum XXHash64 {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    static func hash(_ bytes: [UInt8], seed: UInt64 = 0) -> UInt64 {
        bytes.withUnsafeBytes { hash($0, seed: seed) }
    }

    static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        let count = bytes.count
        var position = 0
        var hash: UInt64
        if count >= 32 {
            var first = seed &+ prime1 &+ prime2
            var second = seed &+ prime2
            var third = seed
            var fourth = seed &- prime1
            while position &+ 32 <= count {
                first = round(first, bytes.word(at: position))
                second = round(second, bytes.word(at: position &+ 8))
                third = round(third, bytes.word(at: position &+ 16))
                fourth = round(fourth, bytes.word(at: position &+ 24))
                position &+= 32
            }
            hash = rotated(first, 1) &+ rotated(second, 7)
            hash = hash &+ rotated(third, 12) &+ rotated(fourth, 18)
            hash = merged(hash, first)
            hash = merged(hash, second)
            hash = merged(hash, third)
            hash = merged(hash, fourth)
        } else {
            hash = seed &+ prime5
        }
        hash &+= UInt64(count)
        while position &+ 8 <= count {
            hash ^= round(0, bytes.word(at: position))
            hash = rotated(hash, 27) &* prime1 &+ prime4
            position &+= 8
        }
        if position &+ 4 <= count {
            let word = UInt64(bytes.loadLittleEndian(at: position, as: UInt32.self))
            hash ^= word &* prime1
            hash = rotated(hash, 23) &* prime2 &+ prime3
            position &+= 4
        }
        while position < count {
            hash ^= UInt64(bytes[position]) &* prime5
            hash = rotated(hash, 11) &* prime1
            position &+= 1
        }
        hash = (hash ^ (hash >> 33)) &* prime2
        hash = (hash ^ (hash >> 29)) &* prime3
        return hash ^ (hash >> 32)
    }

    @inline(__always)
    private static func rotated(_ value: UInt64, _ count: UInt64) -> UInt64 {
        (value &<< count) | (value &>> (64 &- count))
    }

    @inline(__always)
    private static func round(_ value: UInt64, _ word: UInt64) -> UInt64 {
        rotated(value &+ word &* prime2, 31) &* prime1
    }

    @inline(__always)
    private static func merged(_ hash: UInt64, _ value: UInt64) -> UInt64 {
        (hash ^ round(0, value)) &* prime1 &+ prime4
    }
}
