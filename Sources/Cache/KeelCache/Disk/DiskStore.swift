internal import KeelCore
internal import Synchronization

/// The state that the parts of a disk tier share: folder, codec and index.
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

    var damageCount: Int { damagedCount.load(ordering: .relaxed) }

    func countDamage() { damagedCount.add(1, ordering: .relaxed) }

    /// Reserves bytes for a piece of a large value, evicting the oldest entries.
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
                throw .aboveLimit
            }
            remove(files)
        }
    }

    func release(_ count: Int) { index.withLock { $0.unfinishedByteCount -= count } }

    /// Removes files; the next opening removes any that remain.
    ///
    /// A power failure may undo one removal and not the next. So the segments removed before one with removals must be
    /// durably gone first, or they could return without it.
    func remove(_ dropped: DiskIndex.Dropped) {
        for segment in dropped.segments {
            if segment.hasRemovals { try? files.syncFolder(names.folder) }
            try? files.remove(names.segment(segment.number))
        }
        for value in dropped.values { try? files.remove(names.value(value)) }
    }

    /// Returns the open segment with a number, or nil if it is gone or another file has its name.
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
    static let aboveLimit = CacheError(.tooLarge, "a value exceeds the tier’s byte limit")

    /// Maps a failure of the file system to a code; the only place that does so.
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
