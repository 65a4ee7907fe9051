/// An estimate of how often keys were requested recently, in 8 bytes per entry of the cache.
///
/// A count-min sketch of 4-bit counters that are halved from time to time, so that old counts fade (Einziger, Friedman,
/// Manes: "TinyLFU: A Highly Efficient Cache Admission Policy", 2017). The four counters of a key lie in one block of
/// 64 bytes.
package struct FrequencySketch: Sendable {
    package static let maximum = 15
    private static let wordsPerBlock = 8

    private var words: ContiguousArray<UInt64>
    private var blockMask: UInt32
    private var additions = 0

    package init() {
        words = ContiguousArray(repeating: 0, count: Self.wordsPerBlock)
        blockMask = 0
    }

    /// Makes room for a number of entries, without losing counts.
    package mutating func grow(toHold count: Int) {
        while words.count < count, words.count < 1 << 34 {
            words.append(contentsOf: words)
            blockMask = blockMask << 1 | 1
        }
    }

    /// Counts a key, and halves all counters once `period` additions were made.
    @inline(__always)
    package mutating func increment(_ hash: UInt32, period: Int) {
        let base = Int(hash & blockMask) &* Self.wordsPerBlock
        let grew = words.withUnsafeMutableBufferPointer { words in
            var lanes = Self.lanes(hash)
            var grew: UInt64 = 0
            for row in 0..<4 {
                let word = base &+ row &* 2 &+ Int(lanes & 1)
                let shift = UInt64(lanes >> 1 & 15) &* 4
                let isBelow: UInt64 = (words[word] >> shift) & 15 != 15 ? 1 : 0
                words[word] &+= isBelow << shift
                grew |= isBelow
                lanes >>= 8
            }
            return grew
        }
        additions &+= Int(truncatingIfNeeded: grew)
        if additions >= period { age() }
    }

    /// Returns an estimate of a key's count, from 0 to ``maximum``; it may be too high.
    @inline(__always)
    package func frequency(_ hash: UInt32) -> Int {
        let base = Int(hash & blockMask) &* Self.wordsPerBlock
        return words.withUnsafeBufferPointer { words in
            var lanes = Self.lanes(hash)
            var least: UInt64 = 15
            for row in 0..<4 {
                let word = base &+ row &* 2 &+ Int(lanes & 1)
                least = min(least, (words[word] >> (UInt64(lanes >> 1 & 15) &* 4)) & 15)
                lanes >>= 8
            }
            return Int(truncatingIfNeeded: least)
        }
    }

    /// Returns five bits per row: which of its two words, and which counter in it.
    @inline(__always)
    private static func lanes(_ hash: UInt32) -> UInt32 {
        let mixed = hash &* 0x9E37_79B1
        return mixed ^ (mixed >> 15)
    }

    private mutating func age() {
        var odd = 0
        words.withUnsafeMutableBufferPointer { words in
            for index in words.indices {
                odd &+= (words[index] & 0x1111_1111_1111_1111).nonzeroBitCount
                words[index] = (words[index] >> 1) & 0x7777_7777_7777_7777
            }
        }
        additions = max(0, (additions &- odd / 4) / 2)
    }
}
