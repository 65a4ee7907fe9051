/// Small caches of keys alone that try out several window sizes beside the real cache.
///
/// They see a sample of the keys, chosen by hash, and are smaller than the real cache by the same
/// factor. They share one table of keys, and the real cache's sketch, which counts the same keys.
package struct ShadowCaches: Sendable {
    /// The fraction of the cache that each shadow gives to its window.
    package static let windows: [Double] = [0.01, 0.05, 0.12, 0.25, 0.45, 0.65, 0.85, 0.99]

    /// Returns the maximum number of entries of one shadow; a larger cache is sampled.
    static func maximumSize(limit: Int) -> Int { limit > 8192 ? 1024 : 768 }

    private static let shortestEpoch = 256
    private static let shortestOfShards = 64

    package var window: Double { Self.windows[best] }

    /// The findings of one shard of several in the last epoch, until taken.
    private(set) var ballot: WindowVotes.Ballot?

    /// A key is in the sample if this many of its first bits are 0.
    package private(set) var sampleBits: UInt32 = 0

    private var limit: Int
    private let weighsCost: Bool
    private var table: ShadowTable
    var best = 0
    /// Nil if shards vote together.
    private var votes: WindowVotes?
    private var epochStart: UInt32 = 0

    /// Creates empty shadows of an empty cache.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of entries of the cache, or their maximum total cost.
    ///   - weighsCost: Whether the limit is one of cost. The sample then shrinks as entries come.
    ///   - shardCount: The number of caches that share a load; with more than one, each leaves its ``ballot`` to be
    ///     counted with those of the others.
    ///   - samplesKeys: Whether a large cache with a limit of its number of entries has smaller shadows. Without, the
    ///     limit is at most 8,000.
    package init(
        limit: Int,
        weighsCost: Bool,
        shardCount: Int = 1,
        samplesKeys: Bool = true
    ) {
        self.limit = limit
        self.weighsCost = weighsCost
        votes = shardCount > 1 ? nil : WindowVotes()
        if !weighsCost, samplesKeys {
            sampleBits = Self.sampleBits(limit: limit, shardCount: shardCount)
        }
        table = ShadowTable(weighsCost: weighsCost)
        table.setCapacity(limit >> Int(sampleBits))
    }

    /// Returns how much smaller than a shard its shadows are, as a power of two.
    private static func sampleBits(limit: Int, shardCount: Int) -> UInt32 {
        var bits: UInt32 = 0
        while limit >> Int(bits) > maximumSize(limit: limit) { bits += 1 }
        // At least 64 entries, because smaller shadows could not represent a window of a twentieth.
        while bits < wantedBits(limit &* shardCount), limit >> Int(bits + 1) >= 64 { bits += 1 }
        return bits
    }

    /// Returns how much smaller than a whole cache its shadows need to be, as a power of two.
    private static func wantedBits(_ limit: Int) -> UInt32 {
        var bits: UInt32 = 0
        while limit >> Int(bits) > maximumSize(limit: limit) { bits += 1 }
        return bits
    }

    /// Returns how many more votes the shards of a table cast than one shard with its limit would.
    static func span(limit: Int, shardCount: Int) -> Int {
        let bits = sampleBits(limit: limit / shardCount, shardCount: shardCount)
        return (shortestEpoch / shortestOfShards) << Int(max(bits, wantedBits(limit)) - bits)
    }

    /// Returns the sizes of a cache's window, and of the protected part of the rest.
    package static func targets(_ window: Double, limit: Int) -> (window: Int, protected: Int) {
        let target = max(1, Int((window * Double(limit)).rounded()))
        let main = max(0, limit - target)
        return (target, main / 5 * 4 + main % 5 * 4 / 5)
    }

    @inline(__always)
    package func samples(_ hash: UInt32) -> Bool {
        // In 64 bits, where a shift by 32 gives zero.
        UInt64(hash) >> (32 &- UInt64(sampleBits)) == 0
    }

    /// Notes that a key of the sample was requested; returns whether ``window`` changed.
    ///
    /// `sketch` counts this request already, and `limit` changes if both cost and count are limited.
    package mutating func access(
        _ hash: UInt32,
        weight: Int,
        limit: Int,
        sketch: borrowing FrequencySketch
    ) -> Bool {
        table.access(hash, weight: weight, sketch: sketch)
        if weighsCost, table.count > Self.maximumSize(limit: .max) { thin() }
        // Short epochs, so that a cache that fills for the first time learns soon; shorter ones if
        // shards vote together, because each adopts the result only when it votes.
        let shortest = votes == nil ? Self.shortestOfShards : Self.shortestEpoch
        guard table.now &- epochStart >= max(UInt32(shortest), UInt32(table.count / 4)) else {
            return false
        }
        if limit != self.limit {
            self.limit = limit
            table.setCapacity(limit >> Int(sampleBits))
        }
        return endEpoch()
    }

    private mutating func endEpoch() -> Bool {
        let length = Int(table.now &- epochStart)
        epochStart = table.now
        let ballot = WindowVotes.Ballot(length: length, misses: table.takeMisses())
        guard votes != nil else {
            self.ballot = ballot
            return false
        }
        guard votes?.add(ballot) == true, let winner = votes?.best else { return false }
        best = winner
        return true
    }

    mutating func takeBallot() -> WindowVotes.Ballot? {
        defer { ballot = nil }
        return ballot
    }

    private mutating func thin() {
        guard sampleBits < 24 else { return }
        sampleBits += 1
        let bits = sampleBits
        table.removeAll { UInt64($0) >> (32 - UInt64(bits)) != 0 }
        table.setCapacity(limit >> Int(bits))
    }
}
