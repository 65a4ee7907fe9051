/// Generates record ids: UUIDs of version 7 (RFC 9562, section 5.7), strictly increasing.
///
/// Within a millisecond the random part counts up (section 6.2, method 2), to save random bits.
package struct RecordIDs: Sendable {
    private var time: Int64 = -1
    private var high: UInt64 = 0
    private var low: UInt64 = 0

    package init() {}

    /// Returns an id for a time in milliseconds since 1970; a time that goes back is ignored.
    package mutating func next(
        at milliseconds: Int64,
        using random: inout some RandomNumberGenerator
    ) -> RecordID {
        let now = max(0, milliseconds) & 0xFFFF_FFFF_FFFF
        if now > time {
            time = now
            // Half of the range is reserved for counting.
            high = random.next() & 0x7FF
            low = random.next() >> 2
        } else {
            low += 1
            if low > 0x3FFF_FFFF_FFFF_FFFF {
                low = 0
                high += 1
            }
            if high > 0xFFF {
                high = 0
                time += 1
            }
        }
        return RecordID(high: UInt64(time) << 16 | 0x7000 | high, low: 0x8000_0000_0000_0000 | low)
    }
}

package struct ClosureGenerator: RandomNumberGenerator, Sendable {
    private let random: @Sendable () -> UInt64

    package init(_ random: @escaping @Sendable () -> UInt64) { self.random = random }

    package mutating func next() -> UInt64 { random() }
}

/// The 128 bits of a UUID.
package struct RecordID: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    /// The canonical form: 36 characters in lowercase.
    package var text: String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            let text = UnsafeMutableRawBufferPointer(buffer)
            let (first, second) = (Self.digits(high >> 32), Self.digits(high))
            let (third, fourth) = (Self.digits(low >> 32), Self.digits(low))
            text.storeBytes(of: first.littleEndian, as: UInt64.self)
            // Four digits at a time, each with the hyphen before it.
            text.storeBytes(of: second.littleEndian, toByteOffset: 10, as: UInt64.self)
            text.storeBytes(of: Self.half(second), toByteOffset: 9, as: UInt32.self)
            text.storeBytes(of: third.littleEndian, toByteOffset: 20, as: UInt64.self)
            text.storeBytes(of: Self.half(third), toByteOffset: 19, as: UInt32.self)
            text.storeBytes(of: fourth.littleEndian, toByteOffset: 28, as: UInt64.self)
            for place in stride(from: 8, through: 23, by: 5) { buffer[place] = UInt8(ascii: "-") }
            return 36
        }
    }

    /// The eight hexadecimal digits of a word's lower half, the first one in the lowest byte.
    ///
    /// Computed in parallel: each byte gets four bits, and the distance to `0` or `a` is added.
    private static func digits(_ word: UInt64) -> UInt64 {
        var spread = (word & 0xFFFF_0000) << 16 | word & 0xFFFF
        spread = spread << 8 & 0x00FF_0000_00FF_0000 | spread & 0x0000_00FF_0000_00FF
        spread = spread << 4 & 0x0F00_0F00_0F00_0F00 | spread & 0x000F_000F_000F_000F
        let isLetter = (spread &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return (spread &+ 0x3030_3030_3030_3030 &+ isLetter &* 0x27).byteSwapped
    }

    private static func half(_ digits: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: digits).littleEndian
    }

    package static func random(_ random: () -> UInt64) -> RecordID {
        RecordID(
            high: random() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000,
            low: 0x8000_0000_0000_0000 | random() >> 2
        )
    }

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    package var bytes: [UInt8] {
        [high, low].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - $0 * 8)) }
        }
    }
}
