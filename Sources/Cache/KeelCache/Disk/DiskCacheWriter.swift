internal import Dispatch
internal import KeelCore
internal import Synchronization

/// Serializes all changes to the folder; reads bypass it.
///
/// No method suspends, so each is atomic to the others. Records are written before the call returns.
actor DiskCacheWriter {
    struct Active {
        let handle: SegmentHandle
        var byteCount = SegmentHeader.byteCount
        /// Whether bytes of a failed write may lie behind its end.
        var isDirty = false
    }

    private nonisolated let executor: DiskExecutor

    let store: DiskStore
    var lock: (any FileLock)?
    var active: Active?
    var sequence: UInt64
    var lastNumber: UInt32
    /// Segments with removals that a power failure could undo.
    var unsynced: Set<UInt32>
    var isFolderUnsynced = true
    var bytesSinceSnapshot: Int
    /// Whether the next segment removes everything before it.
    var needsBarrier: Bool

    init(_ store: DiskStore, _ recovery: DiskRecovery, lock: any FileLock) {
        executor = DiskExecutor(store.configuration.diskWork)
        self.store = store
        self.lock = lock
        sequence = recovery.sequence
        lastNumber = recovery.lastNumber
        // The first write then makes up for a snapshot that no longer matched.
        bytesSinceSnapshot = recovery.needsSnapshot ? .max / 2 : recovery.scannedByteCount
        unsynced = recovery.removals
        needsBarrier = recovery.needsBarrier
        guard let last = recovery.index.segments.last else { return }
        lastNumber = last.number
        guard recovery.mayContinue, last.byteCount < store.segmentByteCount,
            let file = try? store.files.open(store.names.segment(last.number), for: .writing)
        else { return }
        let handle = SegmentHandle(number: last.number, id: last.id, file: file)
        active = Active(handle: handle, byteCount: last.byteCount)
        _ = store.index.withLock { $0.keepOpen(handle, atMost: .max) }
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    // MARK: Calls

    func append(_ records: [PreparedRecord]) throws(CacheError) {
        try ensureFolder()
        try write(records)
        try? writeSnapshotIfDue()
    }

    func remove(_ selection: StoredSelection) throws(CacheError) {
        try ensureFolder()
        // Segments that could not be listed at opening must be removed as well.
        if needsBarrier { try evenOnFullDisk { () throws(CacheError) in try roll() } }
        switch selection {
        case .keys(let hashes):
            let known = store.index.withLock { index in hashes.filter { index.mayHold($0) } }
            try remove(
                known.map { hash in
                    var header = RecordHeader(kind: .removedKey)
                    header.hash = hash
                    return PreparedRecord(header: header, payload: [])
                }
            )
        case .tag(let tag):
            var header = RecordHeader(kind: .removedTag)
            header.payloadByteCount = tag.count
            header.payloadChecksum = XXHash64.hash(tag)
            try remove([PreparedRecord(header: header, payload: tag)])
        case .expired(let time):
            var header = RecordHeader(kind: .removedExpired)
            header.expires = time
            try remove([PreparedRecord(header: header, payload: [])])
        case .everything:
            needsBarrier = true
            try evenOnFullDisk { () throws(CacheError) in try roll() }
        }
    }

    /// Makes removals survive a power failure; writes survive the process already.
    func flush() throws(CacheError) {
        guard !store.index.withLock({ $0.isClosed }) else { throw .closed }
        try syncRemovals()
    }

    func syncRemovals() throws(CacheError) {
        guard !unsynced.isEmpty else { return }
        do throws(FileSystemError) {
            for number in unsynced.sorted() {
                guard let segment = store.index.withLock({ $0.segment(number) }),
                    let handle = segment.handle ?? store.openSegment(number, id: segment.id)
                else { continue }
                try handle.file.sync()
            }
            if isFolderUnsynced { try store.files.syncFolder(store.names.folder) }
            isFolderUnsynced = false
            unsynced = []
        } catch {
            throw CacheError(error, "removals could not be synchronized to disk")
        }
    }

    func ensureFolder() throws(CacheError) {
        guard !store.index.withLock({ $0.isClosed }) else { throw .closed }
        if !isInPlace { try restart() }
    }

    private var isInPlace: Bool {
        guard let lock else { return false }
        guard let active else { return lock.isStill(at: store.names.lock) }
        return active.handle.file.isStill(at: store.names.segment(active.handle.number))
    }

    func close() {
        // A folder that another tier has created again has its snapshot, and its segments have the same names.
        if isInPlace, bytesSinceSnapshot > 0 || !unsynced.isEmpty {
            try? writeSnapshot()
        }
        let handles = store.index.withLock { index -> [SegmentState] in
            index.isClosed = true
            return index.reset().segments
        }
        withExtendedLifetime(handles) {}
        active = nil
        unsynced = []
        lock = nil
    }

    /// Starts over in an empty folder, because the old one is gone.
    func restart() throws(CacheError) {
        active = nil
        unsynced = []
        _ = store.index.withLock { index in
            index.snapshotByteCount = 0
            return index.reset()
        }
        needsBarrier = true
        do throws(FileSystemError) {
            // Released first, because the lock may be on a file that still exists.
            lock = nil
            try store.files.makeFolder(store.names.folder)
            let next = try store.files.lock(store.names.lock)
            // Not before: another tier may have created the folder again.
            try empty()
            lock = next
        } catch {
            throw CacheError(error, "the cache’s folder was removed and could not be created again")
        }
    }

    private func empty() throws(FileSystemError) {
        let folder = store.names.folder
        try store.files.removeIfThere(store.names.snapshot)
        for name in try store.files.names(in: folder).sorted() {
            switch FolderNames.role(of: name) {
            case .segment:
                // The older ones must be durably gone, or they could return without the removals in this one.
                try? store.files.syncFolder(folder)
                try store.files.removeIfThere(folder + "/" + name)
            case .value: try store.files.removeIfThere(folder + "/" + name)
            case .unfinished, nil: break
            }
        }
    }

    // MARK: Records

    private func remove(_ records: [PreparedRecord]) throws(CacheError) {
        guard !records.isEmpty else { return }
        try evenOnFullDisk { () throws(CacheError) in try write(records) }
    }

    /// Runs a removal, which must not fail for lack of space: it may drop entries, even all.
    private func evenOnFullDisk(_ body: () throws(CacheError) -> Void) throws(CacheError) {
        while true {
            do throws(CacheError) {
                return try body()
            } catch {
                guard error.code == .diskFull, !store.index.withLock({ $0.segments.isEmpty })
                else { throw error }
                let dropped = store.index.withLock { index in index.dropOldest() ?? index.reset() }
                if let active, dropped.segments.contains(where: { $0.id == active.handle.id }) {
                    self.active = nil
                    needsBarrier = true
                }
                store.remove(dropped)
            }
        }
    }

    private func write(_ records: [PreparedRecord]) throws(CacheError) {
        var next = 0
        while next < records.count {
            var group: [PreparedRecord] = []
            var byteCount = 0
            repeat {
                group.append(records[next])
                byteCount += records[next].header.recordByteCount
                next += 1
            } while next < records.count && byteCount < store.segmentByteCount / 8
            try makeRoom(for: byteCount + SegmentHeader.byteCount)
            try writeGroup(group, byteCount)
        }
    }

    func writeGroup(_ group: [PreparedRecord], _ byteCount: Int) throws(CacheError) {
        if let active, active.byteCount > SegmentHeader.byteCount,
            active.byteCount + byteCount > store.segmentByteCount
        {
            try roll()
        }
        if active == nil { try roll() }
        guard let active else { throw .closed }
        let handle = active.handle
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount)
        var placed: [(RecordHeader, Int)] = []
        for (position, record) in group.enumerated() {
            let offset = active.byteCount + bytes.count
            var header = record.header
            header.sequence = sequence + UInt64(position)
            header.append(
                to: &bytes,
                seed: RecordHeader.seed(segment: handle.id, offset: offset)
            )
            bytes += record.payload
            placed.append((header, offset))
        }
        do throws(FileSystemError) {
            try handle.file.write(bytes, at: active.byteCount)
        } catch {
            // Some bytes may be there; the next record overwrites them.
            do throws(FileSystemError) {
                try handle.file.truncate(to: active.byteCount)
            } catch {
                self.active?.isDirty = true
            }
            throw CacheError(error, "entries could not be written")
        }
        let end = active.byteCount + bytes.count
        self.active?.byteCount = end
        sequence += UInt64(group.count)
        bytesSinceSnapshot += bytes.count
        if group.contains(where: { $0.header.kind != .entry }) { unsynced.insert(handle.number) }
        let dropped = store.index.withLock { index in
            index.setByteCount(end, of: handle.number)
            return zip(group, placed).reduce(into: DiskIndex.Dropped()) { dropped, pair in
                let (header, offset) = pair.1
                let more = index.apply(header, pair.0, in: handle.number, at: offset)
                dropped.values += more.values
            }
        }
        store.remove(dropped)
    }
}

enum StoredSelection: Sendable {
    case keys([UInt64])
    case tag([UInt8])
    case expired(Int64)
    case everything
}

extension CacheError {
    static let closed = CacheError(.unavailable, "the disk tier has been closed")
}

extension DiskIndex {
    mutating func apply(
        _ header: RecordHeader,
        _ record: PreparedRecord,
        in segment: UInt32,
        at offset: Int
    ) -> Dropped {
        if header.kind != .entry { noteRemoval(in: segment) }
        switch header.kind {
        case .entry:
            let size = record.diskByteCount
            if let draft = record.draft {
                draft.notePublished()
                unfinishedByteCount -= size
            }
            let slot = IndexSlot(header, segment: segment, offset: offset)
            // While the record of a large value was moved, another value may have taken its room. The slot stays, so
            // that a removal of its key is still written.
            if record.draft == nil, let reference = record.reference,
                large[header.hash]?.reference.id != reference.id
            {
                var dropped = put(slot, nil, diskByteCount: 0)
                dropped.values += markDead(slot).values
                return dropped
            }
            return put(slot, record.reference, diskByteCount: size)
        case .removedKey:
            return remove(header.hash)
        case .removedTag:
            removeTag(record.payload, at: header.sequence)
            return Dropped()
        case .removedExpired:
            return removeExpired(upTo: header.expires).dropped
        }
    }
}

/// The thread on which the changes of one folder wait for the disk.
///
/// `fsync`, snapshots and eviction take milliseconds, too long for the cooperative pool.
final class DiskExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "keel.cache.disk")
    private let diskWork: DiskCacheTier.Configuration.DiskWork?

    init(_ diskWork: DiskCacheTier.Configuration.DiskWork?) { self.diskWork = diskWork }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if let diskWork {
            diskWork { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        } else {
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }
}
