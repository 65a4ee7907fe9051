extension EvictionPolicy {
    /// Throws out one entry while a limit is broken.
    ///
    /// Call it until it returns nil after every insertion and every change of a cost.
    ///
    /// - Returns: The slot that was freed, which may be the one just inserted; nil within the limits.
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

    /// Moves the oldest of the protected back among the others while they are too many.
    mutating func demote() {
        while protectedWeight > protectedTarget, let node = lists.last(.protected) {
            protectedWeight -= weight(lists.nodes[node].cost)
            lists.move(node, to: .probation)
        }
    }

    /// Moves what is too much for the window to the main part, where there is room for it.
    ///
    /// A window that became smaller gives up a few entries at a time, so that no call takes long.
    private mutating func settle() {
        var moves = 0
        while windowWeight > windowTarget, moves < 32, let node = lists.last(.window) {
            windowWeight -= weight(lists.nodes[node].cost)
            lists.move(node, to: .probation)
            moves += 1
        }
    }

    /// The node to throw out, of a cache that is over a limit.
    private mutating func victim() -> Int? {
        let oldest = lists.last(.probation) ?? lists.last(.protected)
        guard windowWeight > windowTarget, let candidate = lists.last(.window) else {
            // The window is not full: it grows at the cost of the main part.
            return oldest ?? lists.last(.window)
        }
        guard let oldest, lists.nodes[candidate].cost <= costLimit else { return candidate }
        guard admits(candidate, over: oldest) else { return candidate }
        windowWeight -= weight(lists.nodes[candidate].cost)
        lists.move(candidate, to: .probation)
        return oldest
    }

    /// Whether a candidate is worth more than those that would make room for it.
    private mutating func admits(_ candidate: Int, over oldest: Int) -> Bool {
        let entry = lists.nodes[candidate]
        let mine = sketch.frequency(entry.hash)
        guard weighsCost else {
            return mine > sketch.frequency(lists.nodes[oldest].hash) || isLucky(mine)
        }
        var theirs = 0
        var freed = 0
        var next: Int? = oldest
        // A look at a few of them is enough to tell what the rest is like.
        for _ in 0..<16 {
            guard let node = next, freed == 0 || freed < cost - costLimit else { break }
            theirs += sketch.frequency(lists.nodes[node].hash)
            freed += lists.nodes[node].cost
            next = lists.before(node)
        }
        // Hits for each unit of cost.
        return Double(mine) * Double(freed) > Double(theirs) * Double(entry.cost) || isLucky(mine)
    }

    /// True about once in a hundred calls for a candidate that was asked for several times.
    ///
    /// Without some chance, someone who knows the counts could keep an entry in for good. Candidates
    /// that came once or twice have none: in a long loop each would cost a hit.
    private mutating func isLucky(_ frequency: Int) -> Bool {
        guard frequency > 5 else { return false }
        // Marsaglia's xorshift64.
        random ^= random << 13
        random ^= random >> 7
        random ^= random << 17
        return random & 127 == 0
    }
}
