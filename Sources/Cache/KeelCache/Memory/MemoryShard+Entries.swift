extension MemoryShard {
    @inlinable
    mutating func insert(_ entry: Entry, slot: Int) {
        if slot >= capacity { growEntries(slot) }
        if count &* 4 >= (mask &+ 1) &* 3 { growCells() }
        let hash = entry.hash
        put(entry, slot)
        place(hash, slot)
        count &+= 1
    }

    @inlinable
    func put(_ entry: Entry, _ slot: Int) {
        (entries + slot).initialize(to: Slot(entry))
        prints.set(entry.key, at: slot)
        (margins + slot).initialize(
            to: MemoryMargin(entry.hash, entry.freshUntil, entry.detail)
        )
    }

    @inlinable
    func entry(_ slot: Int) -> Entry {
        Entry(
            hash: margins[slot].hash,
            freshUntil: margins[slot].freshUntil,
            detail: margins[slot].detail,
            key: entries[slot].key,
            value: entries[slot].value
        )
    }

    @inlinable
    func pull(_ slot: Int) -> Entry {
        let (entry, margin) = ((entries + slot).move(), (margins + slot).move())
        return Entry(
            hash: margin.hash,
            freshUntil: margin.freshUntil,
            detail: margin.detail,
            key: entry.key,
            value: entry.value
        )
    }

    borrowing func visit(_ body: (borrowing Entry) -> Void) {
        for position in 0...mask where cells[position] != 0 {
            body(entry(Self.slot(of: cells[position])))
        }
    }

    @inlinable
    func place(_ hash: UInt64, _ slot: Int) {
        var position = home(hash)
        while cells[position] != 0 { position = (position &+ 1) & mask }
        cells[position] = (hash & 0xFFFF_FFFF_0000_0000) | UInt64(slot &+ 1)
    }

    /// Removes an entry that the policy did not choose to evict.
    @inlinable
    mutating func remove(_ slot: Int) -> Entry {
        tellAllUses()
        policy.remove(slot)
        return take(slot)
    }

    /// Removes an entry that the policy has already forgotten.
    @inlinable
    mutating func take(_ slot: Int) -> Entry {
        let entry = pull(slot)
        var hole = home(entry.hash)
        while Self.slot(of: cells[hole]) != slot { hole = (hole &+ 1) & mask }
        // Close the gap: move back entries that may stand in the hole.
        var position = hole
        while true {
            position = (position &+ 1) & mask
            let cell = cells[position]
            if cell == 0 { break }
            if (position &- home(cell)) & mask >= (position &- hole) & mask {
                cells[hole] = cell
                hole = position
            }
        }
        cells[hole] = 0
        count &-= 1
        return entry
    }

    /// Allocates slots aligned so that none spans two cache lines if two or four slots fill one.
    @inlinable
    static func allocateSlots(_ count: Int) -> UnsafeMutablePointer<Slot> {
        UnsafeMutableRawPointer
            .allocate(byteCount: count * MemoryLayout<Slot>.stride, alignment: 64)
            .bindMemory(to: Slot.self, capacity: count)
    }

    @inlinable
    mutating func growEntries(_ slot: Int) {
        let larger = max(slot + 1, capacity * 2)
        let moved = Self.allocateSlots(larger)
        let movedMargins = UnsafeMutablePointer<MemoryMargin>.allocate(capacity: larger)
        for position in 0...mask where cells[position] != 0 {
            let slot = Self.slot(of: cells[position])
            (moved + slot).moveInitialize(from: entries + slot, count: 1)
            (movedMargins + slot).moveInitialize(from: margins + slot, count: 1)
        }
        entries.deallocate()
        margins.deallocate()
        (entries, margins) = (moved, movedMargins)
        prints.grow(from: capacity, to: larger)
        capacity = larger
    }

    @inlinable
    mutating func growCells() {
        let old = cells
        let oldMask = mask
        let larger = (mask + 1) * 2
        cells = .allocate(capacity: larger)
        cells.initialize(repeating: 0, count: larger)
        mask = larger - 1
        for position in 0...oldMask where old[position] != 0 {
            place(old[position], Self.slot(of: old[position]))
        }
        old.deallocate()
    }
}
