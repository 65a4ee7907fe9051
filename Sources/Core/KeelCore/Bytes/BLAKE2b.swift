/// The hash function BLAKE2b (RFC 7693) without a key.
package struct BLAKE2b {
    private static let initial: [UInt64] = [
        0x6A09_E667_F3BC_C908, 0xBB67_AE85_84CA_A73B, 0x3C6E_F372_FE94_F82B, 0xA54F_F53A_5F1D_36F1,
        0x510E_527F_ADE6_82D1, 0x9B05_688C_2B3E_6C1F, 0x1F83_D9AB_FB41_BD6B, 0x5BE0_CD19_137E_2179,
    ]

    private static let orders: [[Int]] = [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
    ]

    private let count: Int
    private var state = initial
    private var waiting: [UInt8] = []
    private var length: UInt64 = 0

    /// Begins a hash of 1 to 64 bytes.
    init(count: Int) {
        self.count = count
        state[0] ^= 0x0101_0000 ^ UInt64(count)
        waiting.reserveCapacity(256)
    }

    package static func hash(_ bytes: [UInt8], count: Int) -> [UInt8] {
        var hash = BLAKE2b(count: count)
        hash.update(bytes)
        return hash.finalize()
    }

    mutating func update(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // A full block is compressed only when more data follows, because the last block is marked.
            if waiting.count == 128 { compress(isLast: false) }
            let part = rest.prefix(128 - waiting.count)
            waiting.append(contentsOf: part)
            rest = rest.dropFirst(part.count)
        }
    }

    mutating func finalize() -> [UInt8] {
        compress(isLast: true)
        return Array([UInt8](littleEndian: state).prefix(count))
    }

    private mutating func compress(isLast: Bool) {
        length += UInt64(waiting.count)
        waiting += [UInt8](repeating: 0, count: 128 - waiting.count)
        let words = waiting.withUnsafeBytes { bytes in (0..<16).map { bytes.word(at: 8 * $0) } }
        var mixed = state + Self.initial
        mixed[12] ^= length
        if isLast { mixed[14] = ~mixed[14] }
        for round in 0..<12 {
            let order = Self.orders[round % 10]
            for step in 0..<8 {
                let column = step % 4
                let shift = step / 4
                Self.mix(
                    &mixed,
                    column,
                    4 + (column + shift) % 4,
                    8 + (column + 2 * shift) % 4,
                    12 + (column + 3 * shift) % 4,
                    words[order[2 * step]],
                    words[order[2 * step + 1]]
                )
            }
        }
        for index in 0..<8 { state[index] ^= mixed[index] ^ mixed[index + 8] }
        waiting.removeAll(keepingCapacity: true)
    }

    private static func mix(
        _ words: inout [UInt64],
        _ a: Int,
        _ b: Int,
        _ c: Int,
        _ d: Int,
        _ first: UInt64,
        _ second: UInt64
    ) {
        words[a] = words[a] &+ words[b] &+ first
        words[d] = rotated(words[d] ^ words[a], 32)
        words[c] = words[c] &+ words[d]
        words[b] = rotated(words[b] ^ words[c], 24)
        words[a] = words[a] &+ words[b] &+ second
        words[d] = rotated(words[d] ^ words[a], 16)
        words[c] = words[c] &+ words[d]
        words[b] = rotated(words[b] ^ words[c], 63)
    }

    private static func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 {
        word >> count | word << (64 - count)
    }
}
