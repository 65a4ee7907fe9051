extension EvictionPolicy {
    /// Evicts one entry while a limit is exceeded; returns its slot, which may be the one just inserted, or nil.
    ///
    /// Call it until it returns nil after every insertion and every change of a cost.
    @usableFromInline
    package mutating func nextVictim() -> Int? {
        if hasBothLimits { setTargets() }
        guard count > countLimit || cost > costLimit else {
            settle()
            return nil
        }
        guard let victim = victim() else {
            preconditionFailure("an empty cache is over its limits")
        }
        unlink(victim)
        return victim - SlotLists.headCount
    }

    mutating func demote() {
        while protectedWeight > protectedTarget, let node = lists.last(.protected) {
            protectedWeight -= weight(lists.nodes[node].cost)
            lists.move(node, to: .probation)
        }
    }

    private mutating func settle() {
        var moves = 0
        while windowWeight > windowTarget, moves < 32, let node = lists.last(.window) {
            windowWeight -= weight(lists.nodes[node].cost)
            lists.move(node, to: .probation)
            moves += 1
        }
    }

    private mutating func victim() -> Int? {
        guard let oldest = lists.last(.window) else { return mainVictim() }
        // An entry too large for the cache waits at the end of the window.
        if lists.nodes[oldest].cost > costLimit { return oldest }
        guard let victim = mainVictim() else { return leastWorth(oldest) }
        // A window that is not full grows at the expense of the main part.
        guard windowWeight > windowTarget else { return victim }
        // The winner stays in the window until there is room, and may have to win again.
        let candidate = leastWorth(oldest, sparesNewest: true)
        if lists.before(candidate) == nil, isSmall(candidate) { return victim }
        return admits(candidate, over: victim) ? victim : candidate
    }

    private mutating func isSmall(_ node: Int) -> Bool {
        guard weighsCost else { return true }
        return lists.nodes[node].cost <= max(windowTarget, costLimit / 64)
    }

    // The functions below change nothing. They are `mutating` so that no call copies the policy:
    // retaining its arrays would cost more than the rest.

    /// Returns the entry that the main part would give up.
    private mutating func mainVictim() -> Int? {
        guard weighsCost else { return lists.last(.probation) ?? lists.last(.protected) }
        guard let tried = lists.last(.protected) else {
            guard let untried = lists.last(.probation) else { return nil }
            return leastWorth(untried)
        }
        guard let untried = lists.last(.probation) else { return leastWorth(tried) }
        let (first, second) = (leastWorth(untried), leastWorth(tried))
        return isWorthMore(first, than: second) ? second : first
    }

    /// Returns the oldest entry or, if costs differ, the least used per cost of the oldest few.
    ///
    /// A caller expects to find the value it just set, so the newest is spared unless it is large.
    private mutating func leastWorth(_ oldest: Int, sparesNewest: Bool = false) -> Int {
        guard weighsCost else { return oldest }
        var least = oldest
        var leastUses = Double(sketch.frequency(lists.nodes[oldest].hash))
        var node = oldest
        for _ in 1..<ShadowLists.comparedCount {
            guard let next = lists.before(node) else { break }
            node = next
            if sparesNewest, lists.before(node) == nil, isSmall(node) { break }
            let uses = Double(sketch.frequency(lists.nodes[node].hash))
            let costs = (Double(lists.nodes[node].cost), Double(lists.nodes[least].cost))
            if uses * costs.1 < leastUses * costs.0 { (least, leastUses) = (node, uses) }
        }
        return least
    }

    private mutating func admits(_ candidate: Int, over victim: Int) -> Bool {
        isWorthMore(candidate, than: victim)
            || isLucky(sketch.frequency(lists.nodes[candidate].hash))
    }

    private mutating func isWorthMore(_ node: Int, than other: Int) -> Bool {
        let mine = sketch.frequency(lists.nodes[node].hash)
        let theirs = sketch.frequency(lists.nodes[other].hash)
        guard weighsCost else { return mine > theirs }
        let (myCost, theirCost) = (lists.nodes[node].cost, lists.nodes[other].cost)
        return Double(mine) * Double(theirCost) > Double(theirs) * Double(myCost)
    }

    /// Returns true about once in 128 calls for a candidate requested more than five times, so that an attacker who
    /// knows the counts cannot keep an entry in forever.
    private mutating func isLucky(_ frequency: Int) -> Bool {
        guard frequency > 5 else { return false }
        // Marsaglia's xorshift64.
        random ^= random << 13
        random ^= random >> 7
        random ^= random << 17
        return random & 127 == 0
    }
}
