extension MemoryShard {
    /// Notes a use, for the policy to hear of together with others.
    ///
    /// To tell it of each use at once would touch memory all over the table under the lock. An entry
    /// that is used again before the policy has heard of it is noted once. When there was nothing but
    /// hits for long, the policy has nothing to decide, and hears of a sample of them.
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
            // Knuth's multiplier for 64 bits. Gaps by chance, of 15.5 on average: with equal ones some
            // orders of reading would show the policy always the same keys.
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
            // Not sooner: in a loop that is too long, all entries are hit in a row, then all others
            // are missed, and the former must not be counted less.
            notesFew = quietUses >= 2 &* count
        }
    }

    /// Tells the policy of uses, as has to be done before it is asked or told anything else.
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

    /// Tells the other shards what this one found out about the load, and follows them all.
    @usableFromInline
    mutating func vote() {
        guard let poll, let ballot = policy.takeVotes() else { return }
        policy.setWindow(poll.add(ballot))
    }
}
