#if Logging

/// Remembers short texts that were met lately, each with a verdict.
///
/// Messages are mostly literals, names come from source code, and many values are methods, states
/// and screens: judging a text once is enough as long as it is here. Four places share a number that
/// is made of a text's length and ends; only where that is the same are texts compared, which is
/// quicker than hashing them with care for a dictionary.
struct RecentTexts {
    /// Longer texts seldom repeat.
    private static let byteLimit = 64
    private static let ways = 4
    private static let sets = 64

    private var numbers = [UInt64](repeating: 0, count: sets * ways)
    private var texts = [String](repeating: "", count: sets * ways)
    private var verdicts = [Bool](repeating: false, count: sets * ways)
    private var next = 0

    /// The verdict on a text, nil where it is not known.
    func verdict(on text: String) -> Bool? {
        let number = Self.number(of: text)
        guard number != 0 else { return nil }
        let first = Self.set(of: number)
        for place in first..<(first + Self.ways)
        where numbers[place] == number && texts[place] == text {
            return verdicts[place]
        }
        return nil
    }

    /// Remembers a verdict, in the place of an older one.
    mutating func insert(_ text: String, _ verdict: Bool) {
        let number = Self.number(of: text)
        guard number != 0 else { return }
        let place = Self.set(of: number) + next
        numbers[place] = number
        texts[place] = text
        verdicts[place] = verdict
        next = (next + 1) % Self.ways
    }

    private static func set(of number: UInt64) -> Int { Int(number >> 58) * ways }

    /// A number of the text's length and of its first and last bytes; 0 for one that is not kept.
    private static func number(of text: String) -> UInt64 {
        let number = text.utf8.withContiguousStorageIfAvailable { buffer -> UInt64 in
            let bytes = UnsafeRawBufferPointer(buffer)
            let count = bytes.count
            guard count > 0, count <= byteLimit else { return 0 }
            let ends: (UInt64, UInt64)
            if count >= 8 {
                ends = (
                    bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
                    bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
                )
            } else {
                ends = (
                    UInt64(bytes[0]) << 16 | UInt64(bytes[count / 2]) << 8 | UInt64(count),
                    UInt64(bytes[count - 1])
                )
            }
            // Odd factors, after which the upper bits depend on all of them.
            let mixed = (ends.0 ^ ends.1 &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(count))
            return mixed &* 0xD1B5_4A32_D192_ED03 | 1
        }
        return number ?? 0
    }
}

#endif
