internal import KeelCore
internal import Synchronization

extension DiskCacheWriter {
    func writeSnapshotIfDue() throws(CacheError) {
        // Twice the size of the last one: writing snapshots costs at most half of what is written
        // otherwise, however many entries there are.
        let last = store.index.withLock { $0.snapshotByteCount }
        guard bytesSinceSnapshot >= max(store.segmentByteCount, 2 * last) else { return }
        try writeSnapshot()
    }

    func writeSnapshot() throws(CacheError) {
        guard let last = store.index.withLock({ $0.segments.last }) else { return }
        // What a snapshot knows is not read from the log any more, so that nobody would make it
        // safe later.
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
        // Counted before it is written, so that a snapshot that fails is not tried at each write.
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
