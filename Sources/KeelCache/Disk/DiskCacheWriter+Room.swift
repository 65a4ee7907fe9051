internal import KeelCore
internal import Synchronization

extension DiskCacheWriter {
    /// Gives up the oldest entries until there is room; those that were read are written again.
    func makeRoom(for count: Int) throws(CacheError) {
        let last = lastNumber
        while true {
            let oldest = store.index.withLock { index in
                index.byteCount + count > store.byteLimit ? index.segments.first : nil
            }
            guard let oldest else { return }
            if active == nil {
                // Only a segment that is not the last can be dropped.
                try roll()
            } else if oldest.number != active?.handle.number {
                // What was moved once in this call is not moved again, so that it comes to an end.
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

    /// Drops the oldest segment.
    private func reclaim(_ oldest: SegmentState, keepsUsed: Bool) {
        let handle = oldest.handle ?? store.openSegment(oldest.number, id: oldest.id)
        var hashes: [UInt64]?
        if let handle, let bytes = try? handle.file.read(at: 0, count: oldest.byteCount) {
            let survey = SegmentSurvey(bytes, of: oldest, in: store, keepsUsed: keepsUsed)
            hashes = survey.hashes
            let byteCount = survey.kept.reduce(0) { $0 + $1.header.recordByteCount }
            // Where they cannot be written, they are forgotten with the rest.
            if !survey.kept.isEmpty { try? writeGroup(survey.kept, byteCount) }
        }
        let dropped = store.index.withLock { index -> DiskIndex.Dropped? in
            // A value on its way may have taken its room meanwhile.
            guard index.segments.first?.number == oldest.number else { return nil }
            return index.dropOldest(hashes: hashes)
        }
        if let dropped { store.remove(dropped) }
        unsynced.remove(oldest.number)
    }
}
