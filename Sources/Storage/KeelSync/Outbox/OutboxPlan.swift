internal import KeelStorage

/// The writes that a runner may send now, computed without access to a store or a clock.
struct OutboxPlan {
    struct Lane: Sendable {
        let key: String
        var entries: [OutboxEntry]
    }

    struct Situation {
        var now: Timestamp
        var owner: String
        var activeKeys: Set<String>
        /// The keys that are held by a damaged entry, or because the store failed to record a lease or an outcome.
        var heldKeys: Set<String>
        var isHeld: Bool
        /// Whether to ignore the retry delays of writes whose last attempt did not reach the server.
        var ignoresPausesOfUnreached: Bool
        /// The keys for which to ignore these delays.
        var unpausedKeys: Set<String>
    }

    /// The approximate size in bytes of the entries behind the first ones of their keys, beyond which a plan takes no
    /// more.
    static var byteLimit: Int { 8 << 20 }

    private(set) var lanes: [Lane] = []
    private(set) var nextTime: Timestamp?
    private var positions: [String: Int] = [:]
    private var blockedKeys: Set<String>
    private var isHeld: Bool
    private var byteCount = 0
    private let situation: Situation

    init(_ situation: Situation) {
        self.situation = situation
        blockedKeys = situation.activeKeys.union(situation.heldKeys)
        isHeld = situation.isHeld
    }

    /// Holds the later entries of a key, or of all keys if nil.
    mutating func hold(_ key: String?) {
        if let key { blockedKeys.insert(key) } else { isHeld = true }
    }

    mutating func add(_ entry: OutboxEntry) {
        let key = entry.write.key
        guard !isHeld, !blockedKeys.contains(key) else { return }
        // Also for a later entry of a lane: one that has become readable again may precede an entry that another runner
        // is sending.
        if let time = waitingTime(of: entry) {
            blockedKeys.insert(key)
            nextTime = min(nextTime ?? time, time)
        } else if let position = positions[key] {
            guard byteCount < Self.byteLimit else { return }
            byteCount += entry.byteCount
            // The runner decides about this entry after the earlier ones of the key.
            lanes[position].entries.append(entry)
        } else {
            positions[key] = lanes.count
            lanes.append(Lane(key: key, entries: [entry]))
        }
    }

    private func waitingTime(of entry: OutboxEntry) -> Timestamp? {
        // If this runner holds the lease but is not sending, recording the lease was never confirmed.
        if let end = entry.claimEnd, entry.owner != situation.owner { return end }
        if let time = entry.notBefore, time > situation.now {
            let ignoresPause =
                situation.ignoresPausesOfUnreached
                || situation.unpausedKeys.contains(entry.write.key)
            return entry.isUnreached && ignoresPause ? nil : time
        }
        return nil
    }
}

extension OutboxEntry {
    fileprivate var byteCount: Int {
        write.attributes.reduce(write.body.count + 512) { size, attribute in
            size + attribute.key.utf8.count + attribute.value.utf8.count
        }
    }
}
