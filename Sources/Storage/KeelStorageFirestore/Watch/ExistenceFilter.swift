internal import KeelStorageAdapting

#if Crypto
internal import Crypto
#endif

/// The number of documents of a target on the server, by which a client finds that its result has diverged.
///
/// Source: googleapis/googleapis `google/firestore/v1/write.proto`, `ExistenceFilter`.
package struct ExistenceFilter: Sendable {
    package var target: Int32
    package var count: Int
    /// The names of the documents; nil if the server does not send them.
    package var names: BloomFilter?

    package init(target: Int32, count: Int, names: BloomFilter? = nil) {
        self.target = target
        self.count = count
        self.names = names
    }
}

/// A set of names that may contain more names than were put into it, but never fewer.
///
/// Without the trait `Crypto`, a filter may contain every name.
///
/// Source: googleapis/googleapis `google/firestore/v1/bloom_filter.proto`.
package struct BloomFilter: Sendable {
    package let bits: [UInt8]
    /// The number of bits of the last byte that are not used.
    package let padding: Int
    package let hashCount: Int

    private var bitCount: UInt64 { UInt64(bits.count * 8 - padding) }

    package init?(bits: [UInt8], padding: Int, hashCount: Int) {
        guard (0..<8).contains(padding), padding <= bits.count * 8, hashCount >= 0,
            bits.isEmpty || hashCount > 0
        else { return nil }
        (self.bits, self.padding, self.hashCount) = (bits, padding, hashCount)
    }

    /// Creates a filter of names; nil without the trait `Crypto`.
    ///
    /// - Parameters:
    ///   - names: The full names of the documents.
    ///   - bitCount: The number of bits; nil for as many as it takes to contain one in a hundred other names.
    package init?(_ names: [String], bitCount: Int? = nil) {
        guard !names.isEmpty else {
            self.init(bits: [], padding: 0, hashCount: 0)
            return
        }
        // For a share p of other names, a name takes −log₂ p ÷ ln 2 bits, and −log₂ p hashes:
        // https://doi.org/10.1145/362686.362692
        let bitCount = bitCount ?? Int((Double(names.count) * 9.585).rounded(.up))
        let hashCount = 7
        var bits = [UInt8](repeating: 0, count: (bitCount + 7) / 8)
        for name in names {
            guard let places = Self.places(of: name, hashCount, among: UInt64(bitCount)) else {
                return nil
            }
            for place in places { bits[Int(place / 8)] |= 1 << UInt8(place % 8) }
        }
        self.init(bits: bits, padding: bits.count * 8 - bitCount, hashCount: hashCount)
    }

    package func mayContain(_ name: String) -> Bool {
        guard bitCount > 0 else { return false }
        return Self.places(of: name, hashCount, among: bitCount)?
            .allSatisfy { bits[Int($0 / 8)] & (1 << UInt8($0 % 8)) != 0 } ?? true
    }

    private static func places(
        of name: String,
        _ hashCount: Int,
        among bitCount: UInt64
    ) -> LazyMapSequence<Range<UInt64>, UInt64>? {
        #if Crypto
        let hash = Array(Insecure.MD5.hash(data: Array(name.utf8)))
        let (first, second) = (number(hash.prefix(8)), number(hash.suffix(8)))
        return (0..<UInt64(hashCount)).lazy.map { (first &+ $0 &* second) % bitCount }
        #else
        return nil
        #endif
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
