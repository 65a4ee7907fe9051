internal import KeelCore
internal import Synchronization

/// The entries worth keeping when the oldest segment is dropped (FIFO reinsertion): those read since they were written,
/// up to half the size of the segment and its files.
struct SegmentSurvey {
    private(set) var kept: [PreparedRecord] = []
    private(set) var hashes: [UInt64]?

    init(_ bytes: [UInt8], of segment: SegmentState, in store: DiskStore, keepsUsed: Bool) {
        let now = store.configuration.clock.now.microseconds
        let (large, removedTags) = store.index.withLock { index in
            (index.large.filter { $0.value.segment == segment.number }, index.removedTags)
        }
        let weight = segment.byteCount + large.values.reduce(0) { $0 + $1.diskByteCount }
        var found: [UInt64] = []
        var allowance = weight / 2
        var kept: [PreparedRecord] = []
        let isWhole = bytes.withUnsafeBytes { bytes -> Bool in
            var walk = RecordWalk(bytes, segment: segment.id, from: SegmentHeader.byteCount)
            while let step = walk.next() {
                guard step.header.kind == .entry else { continue }
                found.append(step.header.hash)
                guard keepsUsed, step.isIntact, !step.header.expires(by: now) else { continue }
                let slot = store.index.withLock { $0.slot(of: step.header.hash) }
                guard let slot, slot.segment == segment.number, slot.offset == step.offset,
                    slot.flags.contains(.used),
                    !Self.isRemoved(step, removedTags, store.codec)
                else { continue }
                let value = large[step.header.hash]
                let cost = step.header.recordByteCount + (value?.diskByteCount ?? 0)
                guard cost <= allowance else { continue }
                allowance -= cost
                kept.append(
                    PreparedRecord(
                        header: step.header,
                        payload: Array(step.payload),
                        reference: value?.reference,
                        diskByteCount: value?.diskByteCount ?? 0
                    )
                )
            }
            return walk.position == bytes.count
        }
        self.kept = kept
        hashes = isWhole ? found : nil
    }

    private static func isRemoved(
        _ step: RecordWalk.Step,
        _ removedTags: [[UInt8]: UInt64],
        _ codec: RecordCodec
    ) -> Bool {
        guard !removedTags.isEmpty else { return false }
        guard case .entry(let entry) = codec.read(step.header, step.payload, storedKey: nil) else {
            return true
        }
        return (try? codec.isRemoved(entry, removedTags)) ?? true
    }
}

extension RecordHeader {
    func expires(by now: Int64) -> Bool { flags.contains(.hasExpires) && expires <= now }
}

extension RecordCodec {
    func isRemoved(
        _ entry: StoredEntry,
        _ removedTags: [[UInt8]: UInt64]
    ) throws(CacheError) -> Bool {
        guard !removedTags.isEmpty else { return false }
        for tag in entry.tags {
            if let removed = removedTags[try storedTag(tag)], removed > entry.header.sequence {
                return true
            }
        }
        return false
    }
}
