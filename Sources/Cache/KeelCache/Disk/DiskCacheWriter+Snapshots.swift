internal import KeelCore
internal import Synchronization

extension DiskCacheWriter {
    func writeSnapshotIfDue() throws(CacheError) {
        // Twice the size of the last one: snapshots then cost at most half of all other writes,
        // however many entries there are.
        let last = store.index.withLock { $0.snapshotByteCount }
        guard bytesSinceSnapshot >= max(store.segmentByteCount, 2 * last) else { return }
        try writeSnapshot()
    }

    func writeSnapshot() throws(CacheError) {
        guard let last = store.index.withLock({ $0.segments.last }) else { return }
        // Later runs do not read these records again, and would not sync their removals.
        try syncRemovals()
        let position = IndexSnapshot.Position(
            segment: last.number,
            id: last.id,
            offset: last.byteCount,
            sequence: sequence
        )
        let bytes = store.index.withLock { index in
            index.forgetOldTags()
            return IndexSnapshot.bytes(
                of: index,
                at: position,
                hash: store.codec.hash,
                isSealed: store.codec.sealing != nil
            )
        }
        // Before writing, so that a failing snapshot is not retried on every write.
        bytesSinceSnapshot = 0
        try makeRoom(for: bytes.count)
        do throws(FileSystemError) {
            let path = store.names.newSnapshot
            try? store.files.remove(path)
            do throws(FileSystemError) {
                let file = try store.files.open(path, for: .creating)
                try file.write(bytes, at: 0)
                try store.files.rename(path, to: store.names.snapshot)
            } catch {
                try? store.files.remove(path)
                throw error
            }
        } catch {
            throw CacheError(error, "a snapshot of the index could not be written")
        }
        store.index.withLock { $0.snapshotByteCount = bytes.count }
    }
}
