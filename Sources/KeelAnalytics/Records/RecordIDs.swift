/// Draws ids of records: UUIDs of version 7 (RFC 9562, section 5.7), each greater than the last.
///
/// Within a millisecond the twelve bits behind the time count up (section 6.2, method 1).
struct RecordIDs: Sendable {
    private let random: @Sendable () -> UInt64
    private var time: UInt64 = 0
    private var counter: UInt16 = 0

    init(random: @escaping @Sendable () -> UInt64) { self.random = random }

    /// Draws an id for a time since 1970; one that goes back is passed over.
    mutating func next(at milliseconds: Int64) -> RecordID {
        let now = UInt64(clamping: milliseconds) & 0xFFFF_FFFF_FFFF
        if now > time {
            time = now
            // Half of the counter's room is kept for counting.
            counter = UInt16(truncatingIfNeeded: random()) & 0x7FF
        } else if counter < 0xFFF {
            counter += 1
        } else {
            time += 1
            counter = 0
        }
        return RecordID(
            high: time << 16 | 0x7000 | UInt64(counter),
            low: 0x8000_0000_0000_0000 | random() >> 2
        )
    }
}

/// The 128 bits of a UUID.
struct RecordID: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    /// The usual form: 36 characters in small letters.
    var text: String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            var place = 0
            for position in 0..<16 {
                let word = position < 8 ? high : low
                let byte = UInt8(truncatingIfNeeded: word >> UInt64(56 - position % 8 * 8))
                if position == 4 || position == 6 || position == 8 || position == 10 {
                    buffer[place] = UInt8(ascii: "-")
                    place += 1
                }
                buffer[place] = Self.digit(byte >> 4)
                buffer[place + 1] = Self.digit(byte & 0xF)
                place += 2
            }
            return place
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
    }

    /// A UUID of version 4, drawn at random.
    static func random(_ random: () -> UInt64) -> RecordID {
        RecordID(
            high: random() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000,
            low: 0x8000_0000_0000_0000 | random() >> 2
        )
    }

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads 16 bytes, nil when there are more or fewer.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    var bytes: [UInt8] {
        [high, low].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - $0 * 8)) }
        }
    }
}
