internal import KeelCore
internal import Synchronization

/// What the parts of a disk tier share: the folder, its form, and the index.
final class DiskStore: Sendable {
    let configuration: DiskCacheTier.Configuration
    let files: any FileSystem
    let names: FolderNames
    let codec: RecordCodec
    let byteLimit: Int
    let segmentByteCount: Int
    let index: Mutex<DiskIndex>
    let hitCount = Atomic<Int>(0)
    let missCount = Atomic<Int>(0)
    private let damagedCount: Atomic<Int>

    init(_ recovery: DiskRecovery) {
        configuration = recovery.configuration
        files = recovery.configuration.fileSystem
        names = recovery.names
        byteLimit = recovery.configuration.byteLimit
        segmentByteCount = recovery.configuration.usedSegmentByteCount
        codec = RecordCodec(
            hash: recovery.hash,
            sealing: recovery.configuration.sealing,
            compression: recovery.configuration.compression
        )
        index = Mutex(recovery.index)
        damagedCount = Atomic(recovery.damagedCount)
    }

    /// How many entries were found damaged.
    var damageCount: Int { damagedCount.load(ordering: .relaxed) }

    /// Counts an entry, or a piece of one, that is damaged.
    func countDamage() { damagedCount.add(1, ordering: .relaxed) }

    /// Makes room for bytes of a value on its way, at the cost of the oldest entries.
    ///
    /// Files ask for it a piece at a time and without a way to wait, so that nothing is moved here:
    /// whole segments go, or large values.
    func reserve(_ count: Int) throws(CacheError) {
        while true {
            let dropped = index.withLock { index -> (isDone: Bool, files: DiskIndex.Dropped?) in
                if index.byteCount + count <= byteLimit {
                    index.unfinishedByteCount += count
                    return (true, nil)
                }
                return (false, index.dropOldest() ?? index.dropOldestLarge())
            }
            if dropped.isDone { return }
            guard let files = dropped.files else {
                throw CacheError(.tooLarge, "a value does not fit into the tier’s limit of bytes")
            }
            remove(files)
        }
    }

    /// Gives back what was reserved.
    func release(_ count: Int) { index.withLock { $0.unfinishedByteCount -= count } }

    /// Removes files; what cannot be removed is left to the next opening.
    ///
    /// A power failure may undo one removal of a file and not the next. Before a segment with
    /// removals goes, those that were removed before it therefore have to be gone for good:
    /// otherwise they could come back without it.
    func remove(_ dropped: DiskIndex.Dropped) {
        for segment in dropped.segments {
            if segment.hasRemovals { try? files.syncFolder(names.folder) }
            try? files.remove(names.segment(segment.number))
        }
        for value in dropped.values { try? files.remove(names.value(value)) }
    }

    /// The open segment with a number, nil when it is gone or another file has its name.
    func openSegment(_ number: UInt32, id: UInt64) -> SegmentHandle? {
        guard let file = try? files.open(names.segment(number), for: .reading),
            let bytes = try? file.read(at: 0, count: SegmentHeader.byteCount),
            bytes.withUnsafeBytes({ SegmentHeader($0, number: number)?.id }) == id
        else { return nil }
        let handle = SegmentHandle(number: number, id: id, file: file)
        let closed = index.withLock { $0.keepOpen(handle, atMost: configuration.openFileCount) }
        withExtendedLifetime(closed) {}
        return handle
    }
}

extension CacheError {
    /// The one place where a failure of the file system gets its code.
    init(_ error: FileSystemError, _ message: String) {
        let code: Code =
            switch error.kind {
            case .noSpace: .diskFull
            case .notPermitted: .permissionDenied
            case .busy: .folderInUse
            case .notFound, .exists, .other: .unavailable
            }
        self.init(code, message, cause: error)
    }
}
