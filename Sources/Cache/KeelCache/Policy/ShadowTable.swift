/// The keys of all shadow caches, and the lists in which each of them keeps its keys.
///
/// A key has one record, found by hash, and each shadow links the records it holds. A key used a short time ago is near
/// the front already and is not moved again.
struct ShadowTable: Sendable {
    struct Record: Sendable {
        var hash: UInt32
        var moved: UInt32
        var weight: Int
        /// The list in each shadow, two bits each: none, window, probation, protected.
        var regions: UInt16
    }

    struct Link: Sendable {
        var previous: UInt16
        var next: UInt16
    }

    struct Shadow: Sendable {
        var count = 0
        var weight = 0
        var windowWeight = 0
        var protectedWeight = 0
        var windowTarget = 0
        var protectedTarget = 0
        var misses = 0
    }

    static var shadowCount: Int { 8 }
    /// The heads of the lists are the first records; the first of them holds the free records.
    static var headCount: Int { 4 }

    private var shadows: ContiguousArray<Shadow>
    private var records: ContiguousArray<Record>
    private var links: ContiguousArray<Link>
    /// Open addressing with linear probing; 0 marks an empty cell, because record 0 is a head.
    private var index: ContiguousArray<UInt16>
    private let weighsCost: Bool
    private var liveCount = 0
    private var capacity = 0
    /// The shadows, two bits each, with parts so large that a recent use need not be noted.
    private var lazyWindows: UInt16 = 0
    private var lazyProtected: UInt16 = 0
    /// The number of keys requested so far.
    private(set) var now: UInt32 = 0

    init(weighsCost: Bool) {
        self.weighsCost = weighsCost
        shadows = ContiguousArray(repeating: Shadow(), count: Self.shadowCount)
        let head = Record(hash: 0, moved: 0, weight: 0, regions: 0)
        records = ContiguousArray(repeating: head, count: Self.headCount)
        links = []
        for head in 0..<UInt16(Self.headCount) {
            let link = Link(previous: head, next: head)
            links.append(contentsOf: repeatElement(link, count: Self.shadowCount))
        }
        index = ContiguousArray(repeating: 0, count: 16)
    }

    /// The number of entries in a shadow; all shadows have about as many.
    @inline(__always)
    var count: Int { shadows[0].count }

    /// Sets the size of each shadow; excess entries leave when the next key comes.
    mutating func setCapacity(_ capacity: Int) {
        self.capacity = capacity
        (lazyWindows, lazyProtected) = (0, 0)
        for (shadow, window) in ShadowCaches.windows.enumerated() {
            let targets = ShadowCaches.targets(window, limit: capacity)
            shadows[shadow].windowTarget = targets.window
            shadows[shadow].protectedTarget = targets.protected
            if targets.window >= capacity / 4 { lazyWindows |= 1 << UInt16(2 * shadow) }
            if targets.protected >= capacity / 4 { lazyProtected |= 1 << UInt16(2 * shadow) }
        }
    }

    mutating func takeMisses() -> [Int] {
        let misses = shadows.map(\.misses)
        for shadow in shadows.indices { shadows[shadow].misses = 0 }
        return misses
    }

    mutating func access(_ hash: UInt32, weight: Int, sketch: borrowing FrequencySketch) {
        guard weight <= capacity else { return }
        now &+= 1
        let found = find(hash)
        if let found, isSettled(found) { return }
        let record = found ?? add(hash, weight)
        records[record].moved = now
        withShadows { $0.access(record, sketch: sketch) }
    }

    @inline(__always)
    private func isSettled(_ index: Int) -> Bool {
        let record = records[index]
        guard now &- record.moved < UInt32(truncatingIfNeeded: shadows[0].count >> 3) else {
            return false
        }
        let low = record.regions & 0x5555
        let high = (record.regions >> 1) & 0x5555
        return (low & ~high & lazyWindows) | (low & high & lazyProtected) == 0x5555
    }

    mutating func removeAll(where isOut: (UInt32) -> Bool) {
        for record in Self.headCount..<records.count where records[record].regions != 0 {
            guard isOut(records[record].hash) else { continue }
            withShadows { $0.removeEverywhere(record) }
        }
    }

    @inline(__always)
    private mutating func withShadows<Result>(_ body: (inout ShadowLists) -> Result) -> Result {
        let mask = index.count - 1
        let (capacity, weighsCost) = (capacity, weighsCost)
        return shadows.withUnsafeMutableBufferPointer { shadows in
            records.withUnsafeMutableBufferPointer { records in
                links.withUnsafeMutableBufferPointer { links in
                    index.withUnsafeMutableBufferPointer { index in
                        var lists = ShadowLists(
                            shadows: shadows,
                            records: records,
                            links: links,
                            index: index,
                            indexMask: mask,
                            capacity: capacity,
                            weighsCost: weighsCost
                        )
                        defer { liveCount -= lists.releasedCount }
                        return body(&lists)
                    }
                }
            }
        }
    }

    // MARK: Keys

    static func home(_ hash: UInt32, _ mask: Int) -> Int { Int((hash &* 0x85EB_CA6B) >> 7) & mask }

    @inline(__always)
    private func find(_ hash: UInt32) -> Int? {
        let mask = index.count - 1
        var place = Self.home(hash, mask)
        while index[place] != 0 {
            let record = Int(index[place])
            if records[record].hash == hash { return record }
            place = (place + 1) & mask
        }
        return nil
    }

    private mutating func add(_ hash: UInt32, _ weight: Int) -> Int {
        let new = Record(hash: hash, moved: now, weight: weight, regions: 0)
        var record = Int(links[0].next)
        if record == 0 {
            record = records.count
            records.append(new)
            links.append(
                contentsOf: repeatElement(Link(previous: 0, next: 0), count: Self.shadowCount)
            )
        } else {
            links[0].next = links[record * Self.shadowCount].next
            records[record] = new
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
        let mask = index.count - 1
        var place = Self.home(records[record].hash, mask)
        while index[place] != 0 { place = (place + 1) & mask }
        index[place] = UInt16(record)
    }
}
