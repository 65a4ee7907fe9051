internal import KeelCore

/// The index of a disk tier, which reads and writes share.
///
/// Performs no input or output; returns dropped files, to be closed and removed outside the lock.
struct DiskIndex: Sendable {
    struct Dropped: Sendable {
        var segments: [SegmentState] = []
        var values: [UInt64] = []
    }

    struct Large: Hashable, Sendable {
        var reference: LargeValueReference
        var diskByteCount: Int
        var segment: UInt32
    }

    private(set) var table = IndexTable()
    /// The segments, oldest first, consecutively numbered.
    private(set) var segments: [SegmentState] = []
    private(set) var large: [UInt64: Large] = [:]
    /// The sequence number at which each stored tag was last removed.
    private(set) var removedTags: [[UInt8]: UInt64] = [:]
    private(set) var entryCount = 0
    private(set) var evictionCount = 0
    /// The bytes of segments, large values, unfinished values and the snapshot.
    private(set) var segmentByteCount = 0
    private(set) var largeByteCount = 0
    var unfinishedByteCount = 0
    var snapshotByteCount = 0
    var isClosed = false
    /// The maximum number of slots that refer to dropped segments.
    private var staleCount = 0

    var byteCount: Int {
        segmentByteCount + largeByteCount + unfinishedByteCount + snapshotByteCount
    }

    // MARK: Entries

    func slot(of hash: UInt64) -> IndexSlot? {
        guard let slot = table[hash], isLive(slot) else { return nil }
        return slot
    }

    /// Returns whether removing this hash has an effect, now or when the log is read again.
    func mayHold(_ hash: UInt64) -> Bool { table[hash] != nil }

    mutating func markUsed(_ slot: IndexSlot) {
        guard !slot.flags.contains(.used) else { return }
        _ = table.setFlags(slot.flags.union(.used), at: slot)
    }

    /// Marks a slot whose record is of no more use; returns its large value, which is dropped with it.
    mutating func markDead(_ slot: IndexSlot) -> Dropped {
        guard let now = self.slot(of: slot.hash), now.isSamePlace(as: slot),
            table.setFlags(now.flags.union(.dead), at: slot)
        else { return Dropped() }
        forget(now)
        return dropLarge(slot.hash)
    }

    mutating func put(_ slot: IndexSlot, _ reference: LargeValueReference?, diskByteCount: Int)
        -> Dropped
    {
        if table.isFull, staleCount > table.count / 4 { sweep() }
        if let old = table.insert(slot), isLive(old) { forget(old) }
        entryCount += 1
        if let position = position(of: slot.segment) { segments[position].liveCount += 1 }
        guard let reference else { return dropLarge(slot.hash) }
        var dropped = Dropped()
        if large[slot.hash]?.reference.id != reference.id { dropped = dropLarge(slot.hash) }
        let old = large.updateValue(
            Large(reference: reference, diskByteCount: diskByteCount, segment: slot.segment),
            forKey: slot.hash
        )
        largeByteCount += diskByteCount - (old?.diskByteCount ?? 0)
        return dropped
    }

    mutating func remove(_ hash: UInt64) -> Dropped {
        if let slot = table.remove(hash), isLive(slot) { forget(slot) }
        return dropLarge(hash)
    }

    mutating func removeExpired(upTo time: Int64) -> (count: Int, dropped: Dropped) {
        var removed: [IndexSlot] = []
        table.visit { if $0.expires <= time { removed.append($0) } }
        var dropped = Dropped()
        for slot in removed {
            if isLive(slot) { forget(slot) }
            dropped.values += dropLarge(slot.hash).values
        }
        if !removed.isEmpty { table.removeAll { $0.expires <= time } }
        return (removed.count, dropped)
    }

    mutating func removeTag(_ tag: [UInt8], at sequence: UInt64) {
        removedTags[tag] = max(sequence, removedTags[tag] ?? 0)
    }

    /// Drops removals of tags that are older than every record.
    mutating func forgetOldTags() {
        guard let first = segments.first, !removedTags.isEmpty else { return }
        removedTags = removedTags.filter { $0.value >= first.firstSequence }
    }

    // MARK: Segments

    func segment(_ number: UInt32) -> SegmentState? {
        position(of: number).map { segments[$0] }
    }

    mutating func addSegment(_ segment: SegmentState) {
        segments.append(segment)
        segmentByteCount += segment.byteCount
    }

    mutating func setByteCount(_ byteCount: Int, of number: UInt32) {
        guard let position = position(of: number) else { return }
        segmentByteCount += byteCount - segments[position].byteCount
        segments[position].byteCount = byteCount
    }

    mutating func noteRemoval(in number: UInt32) {
        if let position = position(of: number) { segments[position].hasRemovals = true }
    }

    /// Keeps a segment open, and closes the oldest others if too many are open; returns the handles to release outside
    /// the lock.
    mutating func keepOpen(_ handle: SegmentHandle, atMost limit: Int) -> [SegmentHandle] {
        guard let position = position(of: handle.number), segments[position].id == handle.id else {
            return []
        }
        segments[position].handle = handle
        var closed: [SegmentHandle] = []
        var openCount = segments.reduce(0) { $0 + ($1.handle == nil ? 0 : 1) }
        // The last one is being written, and stays open.
        for other in segments.indices.dropLast() where openCount > limit && other != position {
            guard let old = segments[other].handle else { continue }
            closed.append(old)
            segments[other].handle = nil
            openCount -= 1
        }
        return closed
    }

    /// Drops the oldest segment and its entries.
    ///
    /// - Parameter hashes: The hashes of its records; without them its slots stay until a sweep.
    /// - Returns: The files to remove, or nil if only the segment being written is left.
    mutating func dropOldest(hashes: [UInt64]? = nil) -> Dropped? {
        guard segments.count > 1 else { return nil }
        let oldest = segments.removeFirst()
        segmentByteCount -= oldest.byteCount
        entryCount -= oldest.liveCount
        evictionCount += oldest.liveCount
        if let hashes {
            for hash in hashes where table[hash]?.segment == oldest.number { table.remove(hash) }
        } else {
            staleCount += oldest.liveCount
        }
        var dropped = Dropped(segments: [oldest])
        for (hash, value) in large where value.segment == oldest.number {
            dropped.values += dropLarge(hash).values
        }
        return dropped
    }

    /// Drops the oldest large value, preferring one that was not read; returns its file, or nil if there is no large
    /// value.
    mutating func dropOldestLarge() -> Dropped? {
        let slots = large.keys.compactMap { slot(of: $0) }
        func isOlder(_ left: IndexSlot, _ right: IndexSlot) -> Bool {
            (left.segment, left.offset) < (right.segment, right.offset)
        }
        let unused = slots.lazy.filter { !$0.flags.contains(.used) }
        guard let oldest = unused.min(by: isOlder) ?? slots.min(by: isOlder) else { return nil }
        if oldest.flags.contains(.used) {
            // All have been read since: reset their marks.
            for slot in slots { _ = table.setFlags(slot.flags.subtracting(.used), at: slot) }
        }
        evictionCount += 1
        return markDead(oldest)
    }

    mutating func reset() -> Dropped {
        let dropped = Dropped(segments: segments, values: large.values.map(\.reference.id))
        table = IndexTable()
        segments = []
        large = [:]
        removedTags = [:]
        entryCount = 0
        segmentByteCount = 0
        largeByteCount = 0
        staleCount = 0
        return dropped
    }

    private mutating func sweep() {
        let first = segments.first?.number ?? 0
        table.removeAll { $0.segment < first }
        staleCount = 0
    }

    private func isLive(_ slot: IndexSlot) -> Bool {
        guard let first = segments.first else { return false }
        return slot.segment >= first.number && !slot.flags.contains(.dead)
    }

    private mutating func forget(_ slot: IndexSlot) {
        entryCount -= 1
        if let position = position(of: slot.segment) { segments[position].liveCount -= 1 }
    }

    private mutating func dropLarge(_ hash: UInt64) -> Dropped {
        guard let old = large.removeValue(forKey: hash) else { return Dropped() }
        largeByteCount -= old.diskByteCount
        return Dropped(values: [old.reference.id])
    }

    private func position(of number: UInt32) -> Int? {
        guard let first = segments.first?.number, number >= first,
            Int(number - first) < segments.count
        else { return nil }
        return Int(number - first)
    }
}

extension DiskIndex {
    init(_ snapshot: IndexSnapshot, sizes: [UInt32: Int]) {
        self.init()
        for segment in snapshot.segments {
            guard let size = sizes[segment.number] else { continue }
            var segment = segment
            segment.byteCount = size
            addSegment(segment)
        }
        guard let first = segments.first?.number else { return }
        var table = IndexTable(capacity: snapshot.slotCount)
        var counts = segments.map { _ in 0 }
        snapshot.visitSlots { slot in
            guard slot.byteCount > 0, slot.segment >= first,
                Int(slot.segment - first) < counts.count
            else { return }
            table.insert(slot)
            if !slot.flags.contains(.dead) { counts[Int(slot.segment - first)] += 1 }
        }
        self.table = table
        for (position, count) in counts.enumerated() { segments[position].liveCount = count }
        entryCount = counts.reduce(0, +)
        for (tag, sequence) in snapshot.removedTags { removedTags[tag] = sequence }
        for (hash, value) in snapshot.large where slot(of: hash)?.segment == value.segment {
            large[hash] = value
            largeByteCount += value.diskByteCount
        }
    }
}

/// An open segment; its holder can read it even after the file was removed.
final class SegmentHandle: Sendable {
    let number: UInt32
    let id: UInt64
    let file: any OpenFile

    init(number: UInt32, id: UInt64, file: any OpenFile) {
        self.number = number
        self.id = id
        self.file = file
    }
}

struct SegmentState: Sendable {
    let number: UInt32
    let id: UInt64
    let firstSequence: UInt64
    var byteCount: Int
    var liveCount = 0
    /// Whether it holds removals, or removes everything before.
    var hasRemovals = false
    var handle: SegmentHandle?
}
