/// The eviction policy of a cache: W-TinyLFU with a window that adapts its size.
///
/// New entries enter a window ordered by last use. An entry that leaves the window competes with the entry that the
/// main part would give up, and the more frequently requested one stays. The best size of the window depends on the
/// load: recency favors a large one, frequency a small one. Small caches of keys alone, each with another window, try
/// sizes out beside the real cache (see ``ShadowCaches``).
///
/// - With a count limit alone, every entry weighs 1. With a cost limit entries weigh their cost, and the aim is the
///   number of hits, not of bytes: a large entry must be requested more often than the small ones it displaces.
/// - With both limits, both hold. The parts are measured in cost: in the total cost of the entries if the count limit
///   is the one reached.
/// - With no limit, the policy only keeps count and cost.
///
/// The policy knows slots, small numbers that are reused after a removal; its owner keeps keys and values, and guards
/// the policy with its lock. Equal seeds and calls give equal victims.
///
/// Sources: Einziger, Friedman, Manes, "TinyLFU" (2017), and Einziger, Eytan, Friedman, Manes,
/// "Adaptive Software Cache Management" (2018), which calls the small caches mini-sim.
@usableFromInline
package struct EvictionPolicy: Sendable {
    @usableFromInline package var count: Int { lists.count }
    @usableFromInline package private(set) var cost = 0

    let countLimit: Int
    let costLimit: Int
    private let isBounded: Bool
    let weighsCost: Bool
    let hasBothLimits: Bool
    private let seed: UInt64

    var lists = SlotLists()
    var sketch = FrequencySketch()
    var shadows: ShadowCaches
    var random: UInt64

    var windowWeight = 0
    var protectedWeight = 0
    var windowTarget = 0
    var protectedTarget = 0

    /// Creates the policy of an empty cache.
    ///
    /// The seed makes the positions of keys, and admissions by chance, unpredictable. The owner of several policies for
    /// one load must count their votes; see ``hasVotes``.
    package init(
        countLimit: Int?,
        costLimit: Int?,
        seed: UInt64,
        shardCount: Int = 1,
        samplesKeys: Bool = true
    ) {
        self.countLimit = max(0, countLimit ?? .max)
        self.costLimit = max(0, costLimit ?? .max)
        isBounded = countLimit != nil || costLimit != nil
        weighsCost = costLimit != nil
        hasBothLimits = countLimit != nil && costLimit != nil
        self.seed = seed
        // xorshift would stay at zero.
        random = seed | 1
        shadows = ShadowCaches(
            limit: costLimit ?? countLimit ?? 0,
            weighsCost: weighsCost,
            shardCount: shardCount,
            samplesKeys: samplesKeys
        )
        setTargets()
    }

    /// Whether the shadows have findings about the load to share with the other shards.
    @usableFromInline private(set) var hasVotes = false

    mutating func takeVotes() -> WindowVotes.Ballot? {
        hasVotes = false
        return shadows.takeBallot()
    }

    /// Sets the window, by its index in ``ShadowCaches/windows``.
    mutating func setWindow(_ place: Int) {
        guard place != shadows.best else { return }
        shadows.best = place
        setTargets()
    }

    /// Assigns a slot to a new entry, which enters the window: a freed one, or the lowest unused number.
    ///
    /// Then call ``nextVictim()`` until it returns nil: the limits may be exceeded.
    @usableFromInline
    package mutating func insert(hash: UInt64, cost: Int) -> Int {
        let cost = Self.clamped(cost)
        let hash = folded(hash)
        let node = lists.add(hash: hash, cost: cost, to: .window)
        self.cost += cost
        guard isBounded else { return node - SlotLists.headCount }
        windowWeight += weight(cost)
        if cost > costLimit { lists.moveToEnd(node) }
        sketch.grow(toHold: count)
        record(hash, cost)
        return node - SlotLists.headCount
    }

    @usableFromInline
    package mutating func touch(_ slot: Int) {
        guard isBounded else { return }
        let node = slot &+ SlotLists.headCount
        let entry = lists.nodes[node]
        switch entry.region {
        case .window, .protected:
            lists.move(node, to: entry.region)
        case .probation:
            protectedWeight += weight(entry.cost)
            lists.move(node, to: .protected)
            demote()
        case .free:
            preconditionFailure("slot \(slot) is not in use")
        }
        record(entry.hash, entry.cost)
    }

    /// Has no effect: a missing key counts when it is inserted.
    @inlinable
    package mutating func recordMiss(hash: UInt64) {}

    /// Changes the cost of an entry; call ``nextVictim()`` afterwards.
    @usableFromInline
    package mutating func setCost(_ slot: Int, _ cost: Int) {
        let node = slot + SlotLists.headCount
        let cost = Self.clamped(cost)
        let entry = lists.nodes[node]
        self.cost += cost - entry.cost
        lists.setCost(node, cost)
        guard weighsCost else { return }
        switch entry.region {
        case .window: windowWeight += cost - entry.cost
        case .protected: protectedWeight += cost - entry.cost
        case .probation, .free: break
        }
        if cost > costLimit {
            unweigh(node)
            windowWeight += cost
            lists.move(node, to: .window)
            lists.moveToEnd(node)
        }
        demote()
    }

    @usableFromInline
    package mutating func remove(_ slot: Int) {
        let node = slot + SlotLists.headCount
        precondition(lists.nodes[node].region != .free, "slot \(slot) is not in use")
        unlink(node)
    }

    mutating func unlink(_ node: Int) {
        unweigh(node)
        cost -= lists.nodes[node].cost
        lists.remove(node)
    }

    mutating func unweigh(_ node: Int) {
        let entry = lists.nodes[node]
        switch entry.region {
        case .window: windowWeight -= weight(entry.cost)
        case .protected: protectedWeight -= weight(entry.cost)
        case .probation, .free: break
        }
    }

    @inline(__always)
    func weight(_ cost: Int) -> Int { weighsCost ? cost : 1 }

    @inline(__always)
    private mutating func record(_ hash: UInt32, _ cost: Int) {
        // Ten uses per entry, as in the paper.
        sketch.increment(hash, period: max(lists.count, 16) &* 10)
        if shadows.samples(hash) { recordInShadows(hash, cost) }
    }

    @inline(never)
    private mutating func recordInShadows(_ hash: UInt32, _ cost: Int) {
        let weight = weight(cost)
        if shadows.access(hash, weight: weight, limit: weightLimit, sketch: sketch) { setTargets() }
        if shadows.ballot != nil { hasVotes = true }
    }

    @inline(__always)
    private var weightLimit: Int {
        guard weighsCost else { return countLimit }
        return count >= countLimit ? min(cost, costLimit) : costLimit
    }

    mutating func setTargets() {
        let targets = ShadowCaches.targets(shadows.window, limit: weightLimit)
        (windowTarget, protectedTarget) = targets
    }

    @inline(__always)
    private func folded(_ hash: UInt64) -> UInt32 {
        let product = (hash ^ seed).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        let mixed = product.high ^ product.low
        return UInt32(truncatingIfNeeded: mixed ^ (mixed >> 32))
    }

    /// Limits a cost to 256 TiB, so that sums cannot overflow.
    private static func clamped(_ cost: Int) -> Int { min(max(0, cost), 1 << 48) }
}

/// Keel's eviction policy for simulations: the real one, without keys and values.
///
/// For tools that compare policies on traces; apps use `Cache`. This SPI may change at any time.
@_spi(Simulation)
public struct SimulatedEviction: Sendable {
    private var policy: EvictionPolicy

    /// Creates the policy of an empty cache.
    ///
    /// - Parameters:
    ///   - countLimit: The maximum number of entries, or nil for no limit.
    ///   - costLimit: The maximum total cost of the entries, or nil for no limit.
    ///   - seed: Decides the positions of keys and the few entries admitted by chance.
    ///   - samplesKeys: Whether the shadow caches see a sample of the keys, as those of a `Cache`. Without sampling,
    ///     `countLimit` is at most 8,000.
    public init(
        countLimit: Int?,
        costLimit: Int? = nil,
        seed: UInt64,
        samplesKeys: Bool = true
    ) {
        policy = EvictionPolicy(
            countLimit: countLimit,
            costLimit: costLimit,
            seed: seed,
            samplesKeys: samplesKeys
        )
    }

    /// Assigns a slot, a small number, to a new entry whose key has this hash.
    public mutating func insert(hash: UInt64, cost: Int = 1) -> Int {
        policy.insert(hash: hash, cost: cost)
    }

    /// Notes that the entry of a slot was used.
    public mutating func touch(_ slot: Int) { policy.touch(slot) }

    /// Evicts one entry and returns its slot, or returns nil within the limits.
    public mutating func nextVictim() -> Int? { policy.nextVictim() }
}
