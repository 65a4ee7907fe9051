/// The memory of a ``ShadowTable`` while a key passes through its shadows: W-TinyLFU eight times.
struct ShadowLists {
    typealias Record = ShadowTable.Record
    typealias Link = ShadowTable.Link
    typealias Shadow = ShadowTable.Shadow

    /// The number of oldest entries compared if costs differ.
    static var comparedCount: Int { 24 }

    private static var window: Int { 1 }
    private static var probation: Int { 2 }
    private static var protected: Int { 3 }

    let shadows: UnsafeMutableBufferPointer<Shadow>
    let records: UnsafeMutableBufferPointer<Record>
    let links: UnsafeMutableBufferPointer<Link>
    let index: UnsafeMutableBufferPointer<UInt16>
    let indexMask: Int
    let capacity: Int
    let weighsCost: Bool
    private(set) var releasedCount = 0

    mutating func access(_ record: Int, sketch: borrowing FrequencySketch) {
        let weight = records[record].weight
        for shadow in 0..<ShadowTable.shadowCount {
            switch region(record, shadow) {
            case Self.window: move(record, shadow, Self.window)
            case Self.protected: move(record, shadow, Self.protected)
            case Self.probation:
                shadows[shadow].protectedWeight &+= weight
                move(record, shadow, Self.protected)
                demote(shadow)
            default:
                shadows[shadow].misses &+= 1
                shadows[shadow].count &+= 1
                shadows[shadow].weight &+= weight
                shadows[shadow].windowWeight &+= weight
                link(record, shadow, Self.window)
                makeRoom(shadow, keeping: record, sketch: sketch)
            }
        }
        if records[record].regions == 0 { release(record) }
    }

    mutating func removeEverywhere(_ record: Int) {
        // The last removal releases the record.
        for shadow in 0..<ShadowTable.shadowCount where region(record, shadow) != 0 {
            remove(record, shadow, keeping: 0)
        }
    }

    // MARK: One shadow

    private func demote(_ shadow: Int) {
        while shadows[shadow].protectedWeight > shadows[shadow].protectedTarget,
            let old = last(shadow, Self.protected)
        {
            shadows[shadow].protectedWeight &-= records[old].weight
            move(old, shadow, Self.probation)
        }
    }

    private mutating func makeRoom(
        _ shadow: Int,
        keeping current: Int,
        sketch: borrowing FrequencySketch
    ) {
        while shadows[shadow].weight > capacity {
            var victim = mainVictim(shadow, sketch: sketch)
            if victim == nil || shadows[shadow].windowWeight > shadows[shadow].windowTarget {
                let candidate = leastWorth(Self.window, shadow, sketch: sketch)
                if let candidate, let other = victim {
                    if !isWorthMore(candidate, than: other, sketch: sketch) { victim = candidate }
                } else {
                    victim = candidate
                }
            }
            guard let victim else { return }
            remove(victim, shadow, keeping: current)
        }
        while shadows[shadow].windowWeight > shadows[shadow].windowTarget,
            let old = last(shadow, Self.window)
        {
            shadows[shadow].windowWeight &-= records[old].weight
            move(old, shadow, Self.probation)
        }
    }

    @inline(__always)
    private func mainVictim(_ shadow: Int, sketch: borrowing FrequencySketch) -> Int? {
        let victim = leastWorth(Self.probation, shadow, sketch: sketch)
        guard weighsCost || victim == nil else { return victim }
        let other = leastWorth(Self.protected, shadow, sketch: sketch)
        guard let victim, let other else { return victim ?? other }
        return isWorthMore(victim, than: other, sketch: sketch) ? other : victim
    }

    @inline(__always)
    private func leastWorth(
        _ region: Int,
        _ shadow: Int,
        sketch: borrowing FrequencySketch
    ) -> Int? {
        guard var least = last(shadow, region), weighsCost else { return last(shadow, region) }
        var leastUses = Double(sketch.frequency(records[least].hash))
        var node = least
        for _ in 1..<Self.comparedCount {
            node = Int(links[place(node, shadow)].previous)
            guard node >= ShadowTable.headCount else { break }
            let uses = Double(sketch.frequency(records[node].hash))
            let weights = (Double(records[node].weight), Double(records[least].weight))
            if uses * weights.1 < leastUses * weights.0 { (least, leastUses) = (node, uses) }
        }
        return least
    }

    @inline(__always)
    private func isWorthMore(
        _ record: Int,
        than other: Int,
        sketch: borrowing FrequencySketch
    ) -> Bool {
        let mine = sketch.frequency(records[record].hash)
        let theirs = sketch.frequency(records[other].hash)
        guard weighsCost else { return mine > theirs }
        return Double(mine) * Double(records[other].weight)
            > Double(theirs) * Double(records[record].weight)
    }

    private mutating func remove(_ record: Int, _ shadow: Int, keeping current: Int) {
        let weight = records[record].weight
        shadows[shadow].count &-= 1
        shadows[shadow].weight &-= weight
        switch region(record, shadow) {
        case Self.window: shadows[shadow].windowWeight &-= weight
        case Self.protected: shadows[shadow].protectedWeight &-= weight
        default: break
        }
        unlink(record, shadow)
        records[record].regions &= ~(3 << UInt16(2 &* shadow))
        if records[record].regions == 0, record != current { release(record) }
    }

    // MARK: Lists

    @inline(__always)
    private func region(_ record: Int, _ shadow: Int) -> Int {
        Int(records[record].regions >> UInt16(2 &* shadow)) & 3
    }

    @inline(__always)
    private func place(_ record: Int, _ shadow: Int) -> Int {
        record &* ShadowTable.shadowCount &+ shadow
    }

    @inline(__always)
    private func last(_ shadow: Int, _ region: Int) -> Int? {
        let last = Int(links[place(region, shadow)].previous)
        return last < ShadowTable.headCount ? nil : last
    }

    @inline(__always)
    private func unlink(_ record: Int, _ shadow: Int) {
        let link = links[place(record, shadow)]
        links[place(Int(link.previous), shadow)].next = link.next
        links[place(Int(link.next), shadow)].previous = link.previous
    }

    @inline(__always)
    private func link(_ record: Int, _ shadow: Int, _ region: Int) {
        let head = place(region, shadow)
        let first = links[head].next
        links[place(record, shadow)] = Link(
            previous: UInt16(truncatingIfNeeded: region),
            next: first
        )
        links[place(Int(first), shadow)].previous = UInt16(truncatingIfNeeded: record)
        links[head].next = UInt16(truncatingIfNeeded: record)
        let shift = UInt16(2 &* shadow)
        records[record].regions &= ~(3 << shift)
        records[record].regions |= UInt16(truncatingIfNeeded: region) << shift
    }

    @inline(__always)
    private func move(_ record: Int, _ shadow: Int, _ region: Int) {
        unlink(record, shadow)
        link(record, shadow, region)
    }

    // MARK: Keys

    private mutating func release(_ record: Int) {
        releasedCount += 1
        links[place(record, 0)].next = links[0].next
        links[0].next = UInt16(record)
        var hole = ShadowTable.home(records[record].hash, indexMask)
        while index[hole] != UInt16(record) { hole = (hole + 1) & indexMask }
        var next = (hole + 1) & indexMask
        while index[next] != 0 {
            let home = ShadowTable.home(records[Int(index[next])].hash, indexMask)
            // An entry placed behind the hole, seen from its home, closes it.
            if (next - home) & indexMask >= (next - hole) & indexMask {
                index[hole] = index[next]
                hole = next
            }
            next = (next + 1) & indexMask
        }
        index[hole] = 0
    }
}
