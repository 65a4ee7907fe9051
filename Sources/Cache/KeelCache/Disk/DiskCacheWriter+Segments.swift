internal import KeelCore
internal import Synchronization

extension DiskCacheWriter {
    func roll() throws(CacheError) {
        do throws(FileSystemError) {
            if let old = active, old.isDirty {
                try old.handle.file.truncate(to: old.byteCount)
                active?.isDirty = false
            }
            try beginSegment()
        } catch {
            guard error.kind == .notFound else {
                throw CacheError(error, "a segment of the cache could not be created")
            }
            try restart()
            do throws(FileSystemError) {
                try beginSegment()
            } catch {
                throw CacheError(error, "a segment of the cache could not be created")
            }
        }
    }

    private func beginSegment() throws(FileSystemError) {
        let number = lastNumber + 1
        let path = store.names.segment(number)
        let header = SegmentHeader(
            number: number,
            id: store.configuration.randomness(),
            hash: store.codec.hash,
            firstSequence: sequence,
            isSealed: store.codec.sealing != nil,
            isBarrier: needsBarrier
        )
        let file = try create(path)
        do throws(FileSystemError) {
            try file.write(header.bytes, at: 0)
        } catch {
            try? store.files.remove(path)
            throw error
        }
        let handle = SegmentHandle(number: number, id: header.id, file: file)
        let state = SegmentState(
            number: number,
            id: header.id,
            firstSequence: sequence,
            byteCount: SegmentHeader.byteCount
        )
        var (dropped, unused) = store.index.withLock { index in
            let dropped = header.isBarrier ? index.reset() : DiskIndex.Dropped()
            index.addSegment(state)
            if header.isBarrier { index.noteRemoval(in: number) }
            let limit = store.configuration.openFileCount
            return (dropped, index.keepOpen(handle, atMost: limit))
        }
        unused.removeAll()
        lastNumber = number
        isFolderUnsynced = true
        active = Active(handle: handle)
        guard header.isBarrier else { return }
        unsynced = [number]
        needsBarrier = false
        guard !dropped.segments.isEmpty else { return }
        // Otherwise entries removed in the older segments might return with only some of them.
        try? syncRemovals()
        for position in dropped.segments.indices { dropped.segments[position].hasRemovals = false }
        store.remove(dropped)
    }

    private func create(_ path: String) throws(FileSystemError) -> any OpenFile {
        do throws(FileSystemError) {
            return try store.files.open(path, for: .creating)
        } catch {
            guard error.kind == .exists else { throw error }
            // Left by a user whose folder could not be listed at opening.
            try store.files.remove(path)
            return try store.files.open(path, for: .creating)
        }
    }
}
