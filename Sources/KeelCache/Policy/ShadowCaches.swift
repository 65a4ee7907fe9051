/// Small caches of keys alone that try out windows of several sizes beside the real cache.
///
/// They see a sample of the keys, chosen by hash, and are smaller than the real cache by the same
/// factor. They share one table of keys, and the real cache's sketch: it counts the same keys.
package struct ShadowCaches: Sendable {
    /// The part of the cache that each one gives to its window.
    package static let windows: [Double] = [0.01, 0.05, 0.12, 0.25, 0.45, 0.65, 0.85, 0.99]
    private static let shadowCount = 8
    /// The most entries of one of them.
    package static let maximumSize = 1024
    private static let headCount = 4

    private struct Record {
        var hash: UInt32
        /// Where the key is in each of the caches: two bits for each, 0 where it is not.
        var regions: UInt16
        var weight: Int
    }

    private struct Link {
        var previous: UInt16
        var next: UInt16
    }

    /// One of the caches: its sums.
    private struct Shadow {
        var count = 0
        var weight = 0
        var windowWeight = 0
        var protectedWeight = 0
        var windowTarget = 0
        var protectedTarget = 0
        var epochHits = 0
        var hits = 0.0
    }

    /// The window of the best cache of late.
    package var window: Double { Self.windows[best] }

    private var best = 0
    private let limit: Int
    private var shift: UInt32 = 0
    private var capacity = 0
    private var shadows = ContiguousArray(repeating: Shadow(), count: shadowCount)
    private var records: ContiguousArray<Record> = []
    private var links: ContiguousArray<Link> = []
    private var free: ContiguousArray<UInt16> = []
    /// Open addressing with linear probing; 0 is an empty place, since record 0 is a head.
    private var index = ContiguousArray<UInt16>(repeating: 0, count: 16)
    private var liveCount = 0
    private var accesses = 0

    package init(limit: Int, weighsCost: Bool) {
        self.limit = limit
        if !weighsCost {
            while limit >> Int(shift) > Int(Tuning.v[6]) { shift += 1 }
        }
        let head = Record(hash: 0, regions: 0, weight: 0)
        records = ContiguousArray(repeating: head, count: Self.headCount)
        for head in 0..<UInt16(Self.headCount) {
            for _ in 0..<Self.shadowCount { links.append(Link(previous: head, next: head)) }
        }
        setTargets()
    }

    package static func targets(_ window: Double, limit: Int) -> (window: Int, protected: Int) {
        let target = max(1, Int((window * Double(limit)).rounded()))
        return (target, (limit - target) / 5 * 4 + (limit - target) % 5 * 4 / 5)
    }

    @inline(__always)
    package func samples(_ hash: UInt32) -> Bool { hash & ~(UInt32.max >> shift) == 0 }

    private mutating func setTargets() {
        capacity = limit >> Int(shift)
        for s in 0..<Self.shadowCount {
            (shadows[s].windowTarget, shadows[s].protectedTarget) = Self.targets(
                Self.windows[s],
                limit: capacity
            )
        }
    }

    package mutating func access(
        _ hash: UInt32,
        weight: Int,
        sketch: borrowing FrequencySketch
    ) -> Bool {
        guard weight <= capacity else { return false }
        let record = find(hash) ?? make(hash, weight)
        for s in 0..<Self.shadowCount {
            let region = records[record].regions >> (2 * UInt16(s)) & 3
            if region == 0 {
                shadows[s].count += 1
                shadows[s].weight += weight
                shadows[s].windowWeight += weight
                insert(record, s, 1)
                makeRoom(s, record, sketch: sketch)
                continue
            }
            shadows[s].epochHits += 1
            if region == 2 {
                shadows[s].protectedWeight += records[record].weight
                move(record, s, 3)
                while shadows[s].protectedWeight > shadows[s].protectedTarget {
                    let old = Int(links[3 * Self.shadowCount + s].previous)
                    shadows[s].protectedWeight -= records[old].weight
                    move(old, s, 2)
                }
            } else {
                move(record, s, Int(region))
            }
        }
        if records[record].regions == 0 { release(record) }
        if weighs, shadows.contains(where: { $0.count > Self.maximumSize }) { halve() }
        accesses += 1
        return accesses >= epochLength && endEpoch()
    }

    private let weighs: Bool = false
    private func halve() {}
    private var epochLength: Int { max(256, Int(Tuning.v[3] * Double(shadows[0].count))) }

    private mutating func endEpoch() -> Bool {
        accesses = 0
        if Tuning.log { print(best, shadows.map { $0.epochHits }) }
        if Tuning.v[7] >= 0 { let old = best; best = Int(Tuning.v[7]); return old != best }
        for s in 0..<Self.shadowCount {
            shadows[s].hits = shadows[s].hits * Tuning.v[4] + Double(shadows[s].epochHits)
            shadows[s].epochHits = 0
        }
        var winner = best
        for s in 0..<Self.shadowCount where shadows[s].hits > shadows[winner].hits { winner = s }
        guard winner != best, shadows[winner].hits > shadows[best].hits * Tuning.v[5] else {
            return false
        }
        best = winner
        return true
    }

    private mutating func makeRoom(_ s: Int, _ current: Int, sketch: borrowing FrequencySketch) {
        while shadows[s].weight > capacity {
            let oldest = last(s, 2) ?? last(s, 3)
            if shadows[s].windowWeight > shadows[s].windowTarget, let candidate = last(s, 1) {
                if let oldest, admits(candidate, oldest, sketch: sketch) {
                    shadows[s].windowWeight -= records[candidate].weight
                    move(candidate, s, 2)
                    drop(oldest, s, current)
                } else {
                    drop(candidate, s, current)
                }
            } else if let victim = oldest ?? last(s, 1) {
                drop(victim, s, current)
            } else {
                break
            }
        }
        while shadows[s].windowWeight > shadows[s].windowTarget, let node = last(s, 1) {
            shadows[s].windowWeight -= records[node].weight
            move(node, s, 2)
        }
    }

    private func admits(_ a: Int, _ b: Int, sketch: borrowing FrequencySketch) -> Bool {
        let (fa, fb) = (sketch.frequency(records[a].hash), sketch.frequency(records[b].hash))
        return Double(fa) * Double(records[b].weight) > Double(fb) * Double(records[a].weight)
    }

    private func last(_ s: Int, _ region: Int) -> Int? {
        let last = Int(links[region * Self.shadowCount + s].previous)
        return last < Self.headCount ? nil : last
    }

    private mutating func drop(_ record: Int, _ s: Int, _ current: Int) {
        let weight = records[record].weight
        let region = records[record].regions >> (2 * UInt16(s)) & 3
        shadows[s].count -= 1
        shadows[s].weight -= weight
        if region == 1 { shadows[s].windowWeight -= weight }
        if region == 3 { shadows[s].protectedWeight -= weight }
        unlink(record, s)
        records[record].regions &= ~(3 << (2 * UInt16(s)))
        if records[record].regions == 0, record != current { release(record) }
    }

    private mutating func unlink(_ record: Int, _ s: Int) {
        let link = links[record * Self.shadowCount + s]
        links[Int(link.previous) * Self.shadowCount + s].next = link.next
        links[Int(link.next) * Self.shadowCount + s].previous = link.previous
    }

    private mutating func insert(_ record: Int, _ s: Int, _ region: Int) {
        let first = links[region * Self.shadowCount + s].next
        links[record * Self.shadowCount + s] = Link(previous: UInt16(region), next: first)
        links[Int(first) * Self.shadowCount + s].previous = UInt16(record)
        links[region * Self.shadowCount + s].next = UInt16(record)
        let position = 2 * UInt16(s)
        records[record].regions = records[record].regions & ~(3 << position)
            | UInt16(region) << position
    }

    private mutating func move(_ record: Int, _ s: Int, _ region: Int) {
        unlink(record, s)
        insert(record, s, region)
    }

    private func place(_ hash: UInt32) -> Int {
        Int((hash &* 0x85EB_CA6B) >> 7) & (index.count - 1)
    }

    private func find(_ hash: UInt32) -> Int? {
        var place = place(hash)
        while index[place] != 0 {
            let record = Int(index[place])
            if records[record].hash == hash { return record }
            place = (place + 1) & (index.count - 1)
        }
        return nil
    }

    private mutating func make(_ hash: UInt32, _ weight: Int) -> Int {
        let record: Int
        let new = Record(hash: hash, regions: 0, weight: weight)
        if let old = free.popLast() {
            record = Int(old)
            records[record] = new
        } else {
            record = records.count
            records.append(new)
            for _ in 0..<Self.shadowCount { links.append(Link(previous: 0, next: 0)) }
        }
        liveCount += 1
        if liveCount * 2 > index.count {
            let old = index
            index = ContiguousArray(repeating: 0, count: old.count * 2)
            for record in old where record != 0 { put(Int(record)) }
        }
        put(record)
        return record
    }

    private mutating func put(_ record: Int) {
        var place = place(records[record].hash)
        while index[place] != 0 { place = (place + 1) & (index.count - 1) }
        index[place] = UInt16(record)
    }

    private mutating func release(_ record: Int) {
        liveCount -= 1
        free.append(UInt16(record))
        let mask = index.count - 1
        var hole = place(records[record].hash)
        while index[hole] != UInt16(record) { hole = (hole + 1) & mask }
        var next = (hole + 1) & mask
        while index[next] != 0 {
            let home = place(records[Int(index[next])].hash)
            // Whoever sits behind its home across the hole may move into it.
            if (next - home) & mask >= (next - hole) & mask {
                index[hole] = index[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        index[hole] = 0
    }
}
