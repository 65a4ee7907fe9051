/// A cache of the verdicts on recently used names of fields and properties.
///
/// Names come from source code, so an app uses the same few repeatedly. A name of up to 16 bytes is compared as two
/// numbers.
package struct RecentNames: Sendable {
    package enum Verdict: UInt8, Sendable {
        /// Its values may be written; the name is ASCII without characters that JSON escapes.
        case plain
        /// Its values may be written.
        case allowed
        /// Its values are removed.
        case sensitive
        /// The name itself contains a secret.
        case secret
    }

    private struct Place {
        var first: UInt64 = 0
        var last: UInt64 = 0
        /// The length of the name; -1 if the place is empty.
        var count = -1
        var verdict = Verdict.allowed
    }

    /// Longer names rarely repeat.
    private static let byteLimit = 64
    private static let ways = 4
    private static let sets = 64

    private var places = [Place](repeating: Place(), count: sets * ways)
    private var bytes = [UInt8](repeating: 0, count: sets * ways * byteLimit)
    private var next = 0

    package init() {}

    /// Returns the cached verdict on a name, or else that of `rules`, which must be the same in all calls.
    package mutating func verdict(
        on name: UnsafeBufferPointer<UInt8>,
        _ rules: (UnsafeBufferPointer<UInt8>) -> Verdict?
    ) -> Verdict {
        let count = name.count
        guard count <= Self.byteLimit else { return Self.judge(name, rules) }
        let first = name.firstWord
        let last =
            count > 8
            ? UnsafeRawBufferPointer(name).loadUnaligned(
                fromByteOffset: count - 8,
                as: UInt64.self
            ) : 0
        // Multiplication by odd factors makes the upper bits depend on all bits.
        let mixed =
            (first ^ last &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(count)) &* 0xD1B5_4A32_D192_ED03
        let set = Int(mixed >> 58) * Self.ways
        for place in set..<(set + Self.ways)
        where places[place].first == first && places[place].last == last
            && places[place].count == count && isEqual(name, place)
        {
            return places[place].verdict
        }
        let verdict = Self.judge(name, rules)
        let place = set + next
        next = (next + 1) % Self.ways
        places[place] = Place(first: first, last: last, count: count, verdict: verdict)
        for index in name.indices { bytes[place * Self.byteLimit + index] = name[index] }
        return verdict
    }

    /// Returns whether the bytes between the first eight and the last eight are the same.
    private func isEqual(_ name: UnsafeBufferPointer<UInt8>, _ place: Int) -> Bool {
        var index = 8
        while index < name.count - 8 {
            guard bytes[place * Self.byteLimit + index] == name[index] else { return false }
            index += 1
        }
        return true
    }

    private static func judge(
        _ name: UnsafeBufferPointer<UInt8>,
        _ rules: (UnsafeBufferPointer<UInt8>) -> Verdict?
    ) -> Verdict {
        if let verdict = rules(name) { return verdict }
        let isPlain = name.allSatisfy { byte in
            (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"")
                && byte != UInt8(ascii: "\\")
        }
        return isPlain ? .plain : .allowed
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The first eight bytes as a little-endian number, padded with zeros if there are fewer.
    @inlinable
    package var firstWord: UInt64 {
        let bytes = UnsafeRawBufferPointer(self)
        if count >= 8 { return UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)) }
        if count >= 4 {
            // Two overlapping halves.
            let low = UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))
            let high = UInt32(
                littleEndian: bytes.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
            )
            return UInt64(low) | UInt64(high) << UInt64((count - 4) * 8)
        }
        guard count > 0 else { return 0 }
        let (middle, last) = (count / 2, count - 1)
        return UInt64(bytes[0]) | UInt64(bytes[middle]) << UInt64(middle * 8)
            | UInt64(bytes[last]) << UInt64(last * 8)
    }
}
