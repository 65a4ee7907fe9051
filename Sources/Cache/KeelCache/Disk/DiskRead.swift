internal import Dispatch
internal import KeelCore
internal import Synchronization

/// A read: a lookup in the index, then a `pread` without a lock.
struct DiskRead: Sendable {
    private struct Place: Sendable {
        var slot: IndexSlot
        var id: UInt64
        var handle: SegmentHandle?
        var removedTags: [[UInt8]: UInt64]
    }

    private let store: DiskStore
    private let key: [UInt8]
    private let storedKey: [UInt8]
    private let hash: UInt64

    init(_ key: [UInt8], in store: DiskStore) throws(CacheError) {
        self.store = store
        self.key = key
        storedKey = try store.codec.storedKey(key)
        hash = store.codec.hash.hash(storedKey)
    }

    /// Returns the record for the key, or nil; changes threads only if the index has the key.
    func record() async throws(CacheError) -> CacheRecord? {
        guard let place = try place() else { return miss() }
        return try await DiskReadQueue.run(by: store.configuration.diskWork) {
            () throws(CacheError) in try record(at: place)
        }
    }

    private func record(at first: Place) throws(CacheError) -> CacheRecord? {
        var next: Place? = first
        // Eviction may move or drop the entry during the read.
        for _ in 0..<8 {
            guard let place = next != nil ? next : try place() else { break }
            next = nil
            guard let handle = place.handle ?? store.openSegment(place.slot.segment, id: place.id)
            else {
                if try isGone(place) { break }
                continue
            }
            let offset = Int(place.slot.offset)
            let bytes =
                (try? handle.file.read(at: offset, count: Int(place.slot.byteCount))) ?? []
            let seed = RecordHeader.seed(segment: handle.id, offset: offset)
            switch store.codec.read(bytes, seed: seed, storedKey: storedKey) {
            case .otherKey:
                return miss()
            case .damaged:
                forget(place, isDamaged: true)
                return miss()
            case .entry(let entry):
                guard entry.key ?? key == key else { return miss() }
                if try hasEnded(entry, place) {
                    forget(place, isDamaged: false)
                    return miss()
                }
                if let body = body(of: entry) {
                    store.hitCount.add(1, ordering: .relaxed)
                    return entry.record(key: key, body: body)
                }
                if try isGone(place) { break }
            }
        }
        return miss()
    }

    private func place() throws(CacheError) -> Place? {
        let (place, isClosed) = store.index.withLock { index -> (Place?, Bool) in
            guard !index.isClosed else { return (nil, true) }
            guard let slot = index.slot(of: hash), let segment = index.segment(slot.segment) else {
                return (nil, false)
            }
            index.markUsed(slot)
            let place = Place(
                slot: slot,
                id: segment.id,
                handle: segment.handle,
                removedTags: index.removedTags
            )
            return (place, false)
        }
        if isClosed { throw .closed }
        return place
    }

    private func hasEnded(_ entry: StoredEntry, _ place: Place) throws(CacheError) -> Bool {
        if try store.codec.isRemoved(entry, place.removedTags) { return true }
        // Reading the time costs as much as the rest of the lookup.
        guard entry.header.flags.contains(.hasExpires) else { return false }
        return entry.header.expires(by: store.configuration.clock.now.microseconds)
    }

    private func isGone(_ place: Place) throws(CacheError) -> Bool {
        guard let now = try self.place(), now.slot.isSamePlace(as: place.slot) else { return false }
        forget(place, isDamaged: true)
        return true
    }

    private func body(of entry: StoredEntry) -> CacheBody? {
        let value = entry.value
        var bytes = value.bytes
        if let reference = value.reference {
            let format = LargeValueFormat(id: reference.id, sealing: store.codec.sealing)
            guard let file = try? store.files.open(store.names.value(reference.id), for: .reading)
            else { return nil }
            let large = DiskCacheFile(reference, file: file, format: format, store: store)
            if value.isFile { return .file(large) }
            guard let whole = try? large.read(from: 0, upTo: large.count) else { return nil }
            bytes = whole
        }
        guard value.compression != 0 else { return .bytes(bytes) }
        guard let compression = store.codec.compression, compression.identifier == value.compression
        else { return nil }
        return compression.expanded(bytes, byteCount: value.plainByteCount).map { .bytes($0) }
    }

    private func forget(_ place: Place, isDamaged: Bool) {
        if isDamaged { store.countDamage() }
        store.remove(store.index.withLock { $0.markDead(place.slot) })
    }

    private func miss() -> CacheRecord? {
        store.missCount.add(1, ordering: .relaxed)
        return nil
    }
}

/// The threads on which reads of all folders wait for the disk.
///
/// A read that misses the page cache would block the cooperative pool. Changing threads twice takes about 1 µs.
enum DiskReadQueue {
    private static let queue = DispatchQueue(
        label: "keel.cache.reads",
        qos: .userInitiated,
        attributes: .concurrent
    )

    /// Runs blocking work, regardless of the task's cancellation.
    static func run<Value: Sendable>(
        by diskWork: DiskCacheTier.Configuration.DiskWork?,
        _ body: @escaping @Sendable () throws(CacheError) -> Value
    ) async throws(CacheError) -> Value {
        let outcome: Result<Value, CacheError> = await withCheckedContinuation { reader in
            let read = { @Sendable in
                reader.resume(returning: Result { () throws(CacheError) in try body() })
            }
            if let diskWork { diskWork(read) } else { queue.async(execute: read) }
        }
        return try outcome.get()
    }
}
