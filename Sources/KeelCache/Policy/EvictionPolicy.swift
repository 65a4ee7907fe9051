/// Decides which entries of a cache stay: W-TinyLFU with a window that finds its own size.
///
/// New entries come into a window, ordered by last use. Whoever leaves the window competes with the
/// entry that the main part would give up, and the one that was asked for more often stays. How
/// large the window should be depends on the load: recency wants a large one, frequency a small
/// one. Small caches of keys alone, each with another window, try it out beside the real one (see
/// ``ShadowCaches``).
///
/// - With a count limit alone, every entry weighs 1. With a cost limit entries weigh their cost, and
///   the aim is the number of hits, not of bytes: a large entry must be asked for more often than
///   the small ones in its place.
/// - With both limits, both are held, and the parts are measured in cost: of what the entries cost
///   together where the count limit is the one that is reached.
/// - With none, the policy keeps count and cost, and nothing else.
///
/// The policy knows slots, small numbers that it uses again after a removal; keys and values are
/// its owner's. It is a value, and its owner's lock guards it. Equal seeds and calls give equal
/// victims.
///
/// Sources: Einziger, Friedman, Manes, "TinyLFU" (2017), and Einziger, Eytan, Friedman, Manes,
/// "Adaptive Software Cache Management" (2018), where the small caches are called mini-sim.
@usableFromInline
package struct EvictionPolicy: Sendable {
    /// How many slots are in use.
    @usableFromInline package var count: Int { lists.count }
    /// The sum of the costs of the slots in use.
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
    /// - Parameters:
    ///   - countLimit: The most entries to keep, or nil for any number.
    ///   - costLimit: The most that the entries may cost together, or nil for any sum.
    ///   - seed: What makes the places of keys, and the few entries admitted by chance, unpredictable.
    ///   - shardCount: How many policies share a load. With more than one, somebody has to count
    ///     their votes: see ``hasVotes``.
    package init(countLimit: Int?, costLimit: Int?, seed: UInt64, shardCount: Int = 1) {
        self.countLimit = max(0, countLimit ?? .max)
        self.costLimit = max(0, costLimit ?? .max)
        isBounded = countLimit != nil || costLimit != nil
        weighsCost = costLimit != nil
        hasBothLimits = countLimit != nil && costLimit != nil
        self.seed = seed
        // The generator must not start with zero, where it would stay.
        random = seed | 1
        shadows = ShadowCaches(
            limit: costLimit ?? countLimit ?? 0,
            weighsCost: weighsCost,
            shardCount: shardCount
        )
        setTargets()
    }

    /// Whether the shadows found something about the load that the other shards should know.
    @usableFromInline private(set) var hasVotes = false

    /// Hands over what the shadows found.
    mutating func takeVotes() -> WindowVotes.Ballot? {
        hasVotes = false
        return shadows.takeBallot()
    }

    /// Sets the window, by its place in ``ShadowCaches/windows``.
    mutating func setWindow(_ place: Int) {
        guard place != shadows.best else { return }
        shadows.best = place
        setTargets()
    }

    /// Gives a new entry a slot; it enters the window.
    ///
    /// Call ``nextVictim()`` until it returns nil afterwards: the limits may be broken.
    ///
    /// - Parameters:
    ///   - hash: A hash of the key, the same for each call with this key.
    ///   - cost: What the entry costs, at least 0.
    /// - Returns: The slot: the lowest number that was never used, or one that became free.
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

    /// Notes that an entry was used.
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

    /// Notes that a key was looked up in vain; nothing happens until it is inserted.
    ///
    /// - Parameter hash: The hash of the key.
    @inlinable
    package mutating func recordMiss(hash: UInt64) {}

    /// Changes what an entry costs; call ``nextVictim()`` afterwards.
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

    /// Frees a slot.
    @usableFromInline
    package mutating func remove(_ slot: Int) {
        let node = slot + SlotLists.headCount
        precondition(lists.nodes[node].region != .free, "slot \(slot) is not in use")
        unlink(node)
    }

    /// Takes a node out of its list and out of all sums.
    mutating func unlink(_ node: Int) {
        unweigh(node)
        cost -= lists.nodes[node].cost
        lists.remove(node)
    }

    /// Takes the weight of a node out of the sum of its region.
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

    /// Counts a use of a key, and adapts the window when it is time.
    @inline(__always)
    private mutating func record(_ hash: UInt32, _ cost: Int) {
        // Ten uses for each entry, as the paper has it.
        sketch.increment(hash, period: max(lists.count, 16) &* 10)
        if shadows.samples(hash) { recordInShadows(hash, cost) }
    }

    @inline(never)
    private mutating func recordInShadows(_ hash: UInt32, _ cost: Int) {
        let weight = weight(cost)
        if shadows.access(hash, weight: weight, limit: weightLimit, sketch: sketch) { setTargets() }
        if shadows.ballot != nil { hasVotes = true }
    }

    /// What all entries may weigh together.
    @inline(__always)
    private var weightLimit: Int {
        guard weighsCost else { return countLimit }
        return count >= countLimit ? min(cost, costLimit) : costLimit
    }

    /// Sets the sizes of the parts from the window that the small caches favour.
    mutating func setTargets() {
        let targets = ShadowCaches.targets(shadows.window, limit: weightLimit)
        (windowTarget, protectedTarget) = targets
    }

    /// Spreads a hash over 32 bits, in a way that depends on the seed.
    @inline(__always)
    private func folded(_ hash: UInt64) -> UInt32 {
        let product = (hash ^ seed).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        let mixed = product.high ^ product.low
        return UInt32(truncatingIfNeeded: mixed ^ (mixed >> 32))
    }

    /// Keeps sums of costs from overflowing: nothing costs more than 256 TB.
    private static func clamped(_ cost: Int) -> Int { min(max(0, cost), 1 << 48) }
}
