/// The position of a key's record: 32 bytes in memory and in a snapshot.
struct IndexSlot: Hashable, Sendable, BitwiseCopyable {
    struct Flags: OptionSet, Hashable, Sendable, BitwiseCopyable {
        let rawValue: UInt32
        /// The record was read since it was written or moved.
        static let used = Self(rawValue: 1)
        static let inFile = Self(rawValue: 2)
        /// The record was found expired, damaged or removed with a tag.
        ///
        /// It stays in the table, so that a removal of its key is still written.
        static let dead = Self(rawValue: 4)
    }

    var hash: UInt64 = 0
    /// The time of expiry, in microseconds since 1970, or `Int64.max` for never.
    var expires: Int64 = .max
    var segment: UInt32 = 0
    var offset: UInt32 = 0
    /// The length of the record; 0 in an empty slot.
    var byteCount: UInt32 = 0
    var flags: Flags = []

    func isSamePlace(as other: IndexSlot) -> Bool {
        segment == other.segment && offset == other.offset
    }
}

/// The slots by hash, with open addressing and linear probing, in half the memory of a `Dictionary`.
struct IndexTable: Sendable {
    private var slots: [IndexSlot]
    private(set) var count = 0

    init(capacity: Int = 0) {
        var size = 64
        while size * 7 / 8 < capacity + 1 { size *= 2 }
        slots = Array(repeating: IndexSlot(), count: size)
    }

    var isFull: Bool { (count + 1) * 8 > slots.count * 7 }

    subscript(hash: UInt64) -> IndexSlot? {
        let slot = slots[position(of: hash)]
        return slot.byteCount == 0 ? nil : slot
    }

    @discardableResult
    mutating func insert(_ slot: IndexSlot) -> IndexSlot? {
        if isFull { rebuild(size: slots.count * 2) { _ in true } }
        let position = position(of: slot.hash)
        let old = slots[position]
        slots[position] = slot
        if old.byteCount > 0 { return old }
        count += 1
        return nil
    }

    mutating func setFlags(_ flags: IndexSlot.Flags, at slot: IndexSlot) -> Bool {
        let position = position(of: slot.hash)
        guard slots[position].byteCount > 0, slots[position].isSamePlace(as: slot) else {
            return false
        }
        slots[position].flags = flags
        return true
    }

    @discardableResult
    mutating func remove(_ hash: UInt64) -> IndexSlot? {
        var gap = position(of: hash)
        let removed = slots[gap]
        guard removed.byteCount > 0 else { return nil }
        count -= 1
        // Move back each later slot whose probe path crosses the gap (Knuth, The Art of Computer
        // Programming, volume 3, section 6.4, algorithm R).
        let mask = slots.count &- 1
        var next = gap
        while true {
            next = (next &+ 1) & mask
            let slot = slots[next]
            if slot.byteCount == 0 { break }
            let home = Int(truncatingIfNeeded: slot.hash) & mask
            if (next &- home) & mask >= (next &- gap) & mask {
                slots[gap] = slot
                gap = next
            }
        }
        slots[gap] = IndexSlot()
        return removed
    }

    mutating func removeAll(where isRemoved: (IndexSlot) -> Bool) {
        rebuild(size: slots.count) { !isRemoved($0) }
    }

    func visit(_ body: (IndexSlot) -> Void) {
        for slot in slots where slot.byteCount > 0 { body(slot) }
    }

    private func position(of hash: UInt64) -> Int {
        let mask = slots.count &- 1
        return slots.withUnsafeBufferPointer { slots in
            var position = Int(truncatingIfNeeded: hash) & mask
            while slots[position].byteCount != 0, slots[position].hash != hash {
                position = (position &+ 1) & mask
            }
            return position
        }
    }

    private mutating func rebuild(size: Int, keeping isKept: (IndexSlot) -> Bool) {
        let old = slots
        slots = Array(repeating: IndexSlot(), count: size)
        count = 0
        for slot in old where slot.byteCount > 0 && isKept(slot) {
            slots[position(of: slot.hash)] = slot
            count += 1
        }
    }
}
