internal import KeelStorage

/// What a runner may do now, worked out from entries in their order; it knows no store and no time.
struct OutboxPlan {
    /// The entries of one key that may be sent one after the other.
    struct Lane: Sendable {
        let key: String
        var entries: [OutboxEntry]
    }

    /// What a runner knows beside the entries.
    struct Situation {
        var now: Timestamp
        /// The runner's own name.
        var owner: String
        /// The keys that the runner is busy with.
        var activeKeys: Set<String>
        /// The keys that nothing may be sent of: a rejected write holds them, or the store did not
        /// take what a runner had to write down.
        var heldKeys: Set<String>
        /// Whether a write whose key nobody knows holds them all.
        var isHeld: Bool
        /// Pauses of writes that reached nobody and begun before this are over.
        var ignoresPausesOfUnreached: Bool
    }

    private(set) var lanes: [Lane] = []
    /// When something that waits now will be ready.
    private(set) var nextTime: Timestamp?
    private var positions: [String: Int] = [:]
    private var blockedKeys: Set<String>
    private var isHeld: Bool
    private let situation: Situation

    init(_ situation: Situation) {
        self.situation = situation
        blockedKeys = situation.activeKeys.union(situation.heldKeys)
        isHeld = situation.isHeld
    }

    /// Lets nothing pass that comes later in the order, of a key or of all if it is not known.
    mutating func hold(_ key: String?) {
        if let key { blockedKeys.insert(key) } else { isHeld = true }
    }

    /// Takes the next entry of the order into account.
    mutating func add(_ entry: OutboxEntry) {
        let key = entry.write.key
        guard !isHeld, !blockedKeys.contains(key) else { return }
        if let position = positions[key] {
            // Whether it may go is decided when those before it have gone.
            lanes[position].entries.append(entry)
            return
        }
        if let time = waitingTime(of: entry) {
            blockedKeys.insert(key)
            nextTime = min(nextTime ?? time, time)
        } else {
            positions[key] = lanes.count
            lanes.append(Lane(key: key, entries: [entry]))
        }
    }

    /// Until when the first entry of a key has to wait; nil if it may go.
    private func waitingTime(of entry: OutboxEntry) -> Timestamp? {
        // A claim of this runner that it is not busy with was never confirmed.
        if let end = entry.claimEnd, entry.owner != situation.owner { return end }
        if let time = entry.notBefore, time > situation.now {
            return entry.isUnreached && situation.ignoresPausesOfUnreached ? nil : time
        }
        return nil
    }
}
