internal import KeelCore
internal import Synchronization

extension DiskCacheWriter {
    /// Evicts the oldest entries until there is room; entries that were read are written again.
    func makeRoom(for count: Int) throws(CacheError) {
        let last = lastNumber
        while true {
            let oldest = store.index.withLock { index in
                index.byteCount + count > store.byteLimit ? index.segments.first : nil
            }
            guard let oldest else { return }
            if active == nil {
                // Only segments before the last can be dropped.
                try roll()
            } else if oldest.number != active?.handle.number {
                // An entry is moved at most once per call, so that the loop ends.
                reclaim(oldest, keepsUsed: oldest.number <= last)
            } else if let dropped = store.index.withLock({ $0.dropOldestLarge() }) {
                store.remove(dropped)
            } else if let active, active.byteCount > SegmentHeader.byteCount {
                try roll()
            } else {
                return
            }
        }
    }

    private func reclaim(_ oldest: SegmentState, keepsUsed: Bool) {
        let handle = oldest.handle ?? store.openSegment(oldest.number, id: oldest.id)
        var hashes: [UInt64]?
        if let handle, let bytes = try? handle.file.read(at: 0, count: oldest.byteCount) {
            let survey = SegmentSurvey(bytes, of: oldest, in: store, keepsUsed: keepsUsed)
            hashes = survey.hashes
            let byteCount = survey.kept.reduce(0) { $0 + $1.header.recordByteCount }
            // If they cannot be written, they are dropped with the segment.
            if !survey.kept.isEmpty { try? writeGroup(survey.kept, byteCount) }
        }
        let dropped = store.index.withLock { index -> DiskIndex.Dropped? in
            // A large value being written may have taken the room meanwhile.
            guard index.segments.first?.number == oldest.number else { return nil }
            return index.dropOldest(hashes: hashes)
        }
        if let dropped { store.remove(dropped) }
        unsynced.remove(oldest.number)
    }
}
