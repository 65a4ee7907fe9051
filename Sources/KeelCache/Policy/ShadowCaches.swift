/// Small caches of keys alone that try out windows of several sizes beside the real cache.
///
/// They see a sample of the keys, chosen by hash, and are smaller than the real cache by the same
/// factor. They share one table of keys, and the real cache's sketch: it counts the same keys.
package struct ShadowCaches: Sendable {
    /// The part of the cache that each one gives to its window.
    package static let windows: [Double] = [0.01, 0.05, 0.12, 0.25, 0.45, 0.65, 0.85, 0.99]

    /// The most entries of one shadow; where the cache has more, it is sampled.
    ///
    /// Small caches are sampled a little earlier: with every key, shadows cost more than the rest.
    static func maximumSize(limit: Int) -> Int { limit > 8192 ? 1024 : 768 }

    /// The window of the shadow that had the most hits of late.
    package var window: Double { Self.windows[best] }

    /// A key is in the sample if its first bits, as many as this, are 0.
    package private(set) var sampleBits: UInt32 = 0

    private var limit: Int
    private let weighsCost: Bool
    private var table: ShadowTable
    private var best = 0
    /// The sums of the hits of each shadow, of which each epoch forgets some.
    private var hits: [Double]
    private var epochStart: UInt32 = 0

    /// Creates empty shadows of an empty cache.
    ///
    /// - Parameters:
    ///   - limit: The most entries of the cache, or the most that they may cost.
    ///   - weighsCost: Whether the limit is one of cost. How many entries there will be is then not
    ///     known, and the sample becomes smaller as they come.
    package init(limit: Int, weighsCost: Bool) {
        self.limit = limit
        self.weighsCost = weighsCost
        if !weighsCost {
            while limit >> Int(sampleBits) > Self.maximumSize(limit: limit) { sampleBits += 1 }
        }
        table = ShadowTable(weighsCost: weighsCost)
        hits = Array(repeating: 0, count: Self.windows.count)
        table.setCapacity(limit >> Int(sampleBits))
    }

    /// How much of a cache a window takes, and how much the protected part of the rest.
    package static func targets(_ window: Double, limit: Int) -> (window: Int, protected: Int) {
        let target = max(1, Int((window * Double(limit)).rounded()))
        let main = max(0, limit - target)
        return (target, main / 5 * 4 + main % 5 * 4 / 5)
    }

    /// Whether the shadows want to see a key.
    @inline(__always)
    package func samples(_ hash: UInt32) -> Bool {
        // In 64 bits, where a shift by 32 leaves nothing.
        UInt64(hash) >> (32 &- UInt64(sampleBits)) == 0
    }

    /// Notes that a key of the sample was asked for.
    ///
    /// - Parameters:
    ///   - hash: The key.
    ///   - weight: What its entry counts for against the limit.
    ///   - limit: The limit of the cache; it moves where cost and count are limited.
    ///   - sketch: How often keys were asked for, this time included.
    /// - Returns: Whether ``window`` changed.
    package mutating func access(
        _ hash: UInt32,
        weight: Int,
        limit: Int,
        sketch: borrowing FrequencySketch
    ) -> Bool {
        table.access(hash, weight: weight, sketch: sketch)
        if weighsCost, table.count > Self.maximumSize(limit: .max) { thin() }
        // Short epochs, so that a cache that is filled for the first time soon learns.
        guard table.now &- epochStart >= max(256, UInt32(table.count / 4)) else { return false }
        if limit != self.limit {
            self.limit = limit
            table.setCapacity(limit >> Int(sampleBits))
        }
        return endEpoch()
    }

    private mutating func endEpoch() -> Bool {
        let length = Int(table.now &- epochStart)
        epochStart = table.now
        for (shadow, misses) in table.takeMisses().enumerated() {
            hits[shadow] = hits[shadow] * 0.95 + Double(length - misses)
        }
        var winner = best
        for shadow in hits.indices where hits[shadow] > hits[winner] { winner = shadow }
        // A lead that is no accident: each move costs some hits.
        guard hits[winner] > hits[best] * 1.005 else { return false }
        best = winner
        return true
    }

    /// Halves the sample.
    private mutating func thin() {
        guard sampleBits < 24 else { return }
        sampleBits += 1
        let bits = sampleBits
        table.removeAll { UInt64($0) >> (32 - UInt64(bits)) != 0 }
        table.setCapacity(limit >> Int(bits))
    }
}
