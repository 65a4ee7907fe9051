#if Logging

/// Generates record identifiers: UUIDs of version 7, which increase (RFC 9562, section 5.7).
///
/// Within a millisecond the random part counts up (section 6.2, method 2), to save random bytes.
struct LogRecordIDs: Sendable {
    private var millisecond: Int64 = -1
    private var high: UInt64 = 0
    private var low: UInt64 = 0

    /// Returns an identifier for a record logged at a time in microseconds since 1970.
    mutating func next(
        at time: Int64,
        using random: inout some RandomNumberGenerator
    ) -> String {
        let now = max(0, time / 1000)
        if now > millisecond {
            millisecond = now
            high = random.next() & 0x7FF
            low = random.next() & 0x3FFF_FFFF_FFFF_FFFF
        } else {
            // If the clock is set back, the last time stays in use.
            low += 1
            if low > 0x3FFF_FFFF_FFFF_FFFF {
                low = 0
                high += 1
            }
            if high > 0xFFF {
                high = 0
                millisecond += 1
            }
        }
        let first = UInt64(millisecond) << 16 | 0x7000 | high
        return Self.text(first, 0x8000_0000_0000_0000 | low)
    }

    private static func text(_ first: UInt64, _ second: UInt64) -> String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            var length = 0
            for index in 0..<32 {
                if index == 8 || index == 12 || index == 16 || index == 20 {
                    buffer[length] = UInt8(ascii: "-")
                    length += 1
                }
                let word = index < 16 ? first : second
                let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - index % 16 * 4)) & 0xF
                buffer[length] = digit < 10 ? digit + 0x30 : digit - 10 + 0x61
                length += 1
            }
            return length
        }
    }
}

#endif
