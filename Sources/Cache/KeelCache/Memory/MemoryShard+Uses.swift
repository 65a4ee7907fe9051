extension MemoryShard {
    /// Notes a use, which is reported to the policy in a batch.
    ///
    /// An entry used again before the batch is noted once. After a long run of hits alone, the policy receives a sample
    /// of them.
    @inlinable
    @inline(__always)
    mutating func note(_ slot: Int) {
        if pause > 0 {
            pause &-= 1
        } else {
            noteNow(slot)
        }
    }

    @inlinable
    @inline(never)
    mutating func noteNow(_ slot: Int) {
        if notesFew {
            // Knuth's 64-bit multiplier. The gaps are random, 15.5 on average: with equal gaps,
            // some access patterns would show the policy the same keys every time.
            random = random &* 0x5851_F42D_4C95_7F2D &+ 1
            pause = UInt32(truncatingIfNeeded: random >> 59)
        }
        if entries[slot].isNoted { return }
        entries[slot].isNoted = true
        notes[noteCount] = UInt32(truncatingIfNeeded: slot)
        noteCount &+= 1
        if noteCount == Self.noteLimit {
            quietUses &+= noteCount
            tellUses()
            // Not sooner: a loop larger than the cache hits all its entries in a row and then
            // misses all others, and the former must not be counted less.
            notesFew = quietUses >= 2 &* count
        }
    }

    /// Tells the policy of all noted uses; required before any other call of the policy.
    @inlinable
    mutating func tellAllUses() {
        tellUses()
        quietUses = 0
        notesFew = false
        pause = 0
    }

    @inlinable
    mutating func tellUses() {
        for index in 0..<noteCount {
            let slot = Int(notes[index])
            entries[slot].isNoted = false
            policy.touch(slot)
        }
        noteCount = 0
        if policy.hasVotes { vote() }
    }

    /// Shares this shard's findings about the load with the others, and adopts the common result.
    @usableFromInline
    mutating func vote() {
        guard let poll, let ballot = policy.takeVotes() else { return }
        policy.setWindow(poll.add(ballot))
    }
}
