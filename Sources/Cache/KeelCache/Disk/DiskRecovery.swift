internal import KeelCore

/// The opening of a folder: reads its log and cleans up the rest.
///
/// The log is read from the snapshot's position, or from its beginning. Records are numbered consecutively, so that
/// missing ones are noticed. A removal must never be undone:
///
/// - an incomplete record at the very end comes from a crash and is cut off;
/// - a damaged value is skipped, and its key is forgotten;
/// - if anything else is missing, a removal may be missing with it: everything before is dropped, everything after
///   remains valid.
struct DiskRecovery {
    let configuration: DiskCacheTier.Configuration
    let names: FolderNames
    var hash: SipHash24
    var index = DiskIndex()
    /// The number of the next record.
    var sequence: UInt64 = 1
    var damagedCount = 0
    var scannedByteCount = 0
    /// Whether the snapshot no longer matches the folder.
    var needsSnapshot = false
    /// The number that the next segment must exceed.
    var lastNumber: UInt32 = 0
    var removals: Set<UInt32> = []
    /// Whether the last segment may be continued.
    var mayContinue = true
    /// Whether unlisted segments may exist, which must not return.
    var needsBarrier = false

    private var sizes: [UInt32: Int] = [:]
    private var values: [UInt64] = []
    private var unfinished: [String] = []

    /// Reads a folder; damaged contents are not an error.
    init(_ names: FolderNames, _ configuration: DiskCacheTier.Configuration) throws(CacheError) {
        self.configuration = configuration
        self.names = names
        hash = SipHash24(first: configuration.randomness(), second: configuration.randomness())
        try list()
        let present = sizes
        keepWithoutGaps()
        scan(from: loadSnapshot())
        settle()
        cleanUp(present)
    }

    private var files: any FileSystem { configuration.fileSystem }
    private var isSealed: Bool { configuration.sealing != nil }

    private mutating func list() throws(CacheError) {
        do throws(FileSystemError) {
            for name in try files.names(in: names.folder) {
                switch FolderNames.role(of: name) {
                case .segment(let number):
                    sizes[number] = try files.size(of: names.segment(number)) ?? 0
                case .value(let id): values.append(id)
                case .unfinished: unfinished.append(names.folder + "/" + name)
                case nil: break
                }
            }
        } catch {
            if error.kind == .notPermitted {
                throw CacheError(error, "the cache’s folder cannot be read: permission denied")
            }
            // Existing segments precede a gap in the numbers; the next opening drops them.
            damagedCount += 1
            sizes = [:]
            needsBarrier = true
            lastNumber = 1 << 31 + UInt32(configuration.randomness() >> 34)
            return
        }
        lastNumber = sizes.keys.max() ?? 0
    }

    /// Segments are removed oldest first, so any before a gap should be gone already.
    private mutating func keepWithoutGaps() {
        guard var number = sizes.keys.max() else { return }
        while number > 0, sizes[number - 1] != nil { number -= 1 }
        sizes = sizes.filter { $0.key >= number }
    }

    private mutating func loadSnapshot() -> IndexSnapshot.Position? {
        guard !needsBarrier, let file = try? files.open(names.snapshot, for: .reading) else {
            return nil
        }
        guard let size = try? file.size(), let bytes = try? file.read(at: 0, count: size),
            let snapshot = IndexSnapshot(bytes, isSealed: isSealed)
        else {
            damagedCount += 1
            needsSnapshot = true
            try? files.remove(names.snapshot)
            return nil
        }
        // A snapshot ahead of the log, or of another log, is useless: new records would go where it expects others.
        let place = snapshot.position
        guard let size = sizes[place.segment], size >= place.offset,
            let header = header(of: place.segment), header.id == place.id
        else {
            needsSnapshot = true
            // It must not match again if the segment grows: a power failure may restore it.
            mayContinue = false
            try? files.remove(names.snapshot)
            return nil
        }
        hash = snapshot.hash
        index = DiskIndex(snapshot, sizes: sizes)
        index.snapshotByteCount = bytes.count
        sequence = place.sequence
        return place
    }

    private func header(of number: UInt32) -> SegmentHeader? {
        guard let file = try? files.open(names.segment(number), for: .reading),
            let bytes = try? file.read(at: 0, count: SegmentHeader.byteCount)
        else { return nil }
        return bytes.withUnsafeBytes { SegmentHeader($0, number: number) }
    }

    // MARK: The log

    private mutating func scan(from place: IndexSnapshot.Position?) {
        let numbers = sizes.keys.sorted()
        for number in numbers where number >= place?.segment ?? 0 {
            let isLast = number == numbers.last
            guard let file = try? files.open(names.segment(number), for: .reading),
                let bytes = try? file.read(at: 0, count: sizes[number] ?? 0)
            else {
                damagedCount += 1
                dropEverythingBefore()
                continue
            }
            scannedByteCount += bytes.count
            if number == place?.segment, let place {
                sequence = place.sequence
                scan(bytes, number, place.id, from: place.offset, isLast: isLast)
            } else {
                begin(bytes, number, isLast: isLast)
            }
        }
    }

    private mutating func begin(_ bytes: [UInt8], _ number: UInt32, isLast: Bool) {
        let found = bytes.withUnsafeBytes { SegmentHeader($0, number: number) }
        guard let header = found, header.isSealed == isSealed else {
            // A last segment without records had just been started.
            if isLast, found == nil, bytes.count <= SegmentHeader.byteCount { return }
            damagedCount += 1
            dropEverythingBefore()
            return
        }
        let isFirst = index.segments.isEmpty
        if header.isBarrier {
            dropEverythingBefore()
            removals = [number]
        } else if !isFirst, header.firstSequence != sequence || header.hash != hash {
            damagedCount += 1
            dropEverythingBefore()
        }
        hash = header.hash
        sequence = header.firstSequence
        index.addSegment(
            SegmentState(
                number: number,
                id: header.id,
                firstSequence: header.firstSequence,
                byteCount: bytes.count
            )
        )
        if header.isBarrier { index.noteRemoval(in: number) }
        scan(bytes, number, header.id, from: SegmentHeader.byteCount, isLast: isLast)
    }

    private mutating func scan(
        _ bytes: [UInt8],
        _ number: UInt32,
        _ id: UInt64,
        from start: Int,
        isLast: Bool
    ) {
        let end = bytes.withUnsafeBytes { bytes -> Int in
            var walk = RecordWalk(bytes, segment: id, from: start)
            while let step = walk.next() {
                if step.isAfterDamage || step.header.sequence != sequence {
                    damagedCount += 1
                    dropEverythingBefore(exceptSegment: number)
                }
                sequence = step.header.sequence + 1
                apply(step, in: number)
            }
            return walk.position
        }
        guard end < bytes.count else { return }
        guard isLast else {
            damagedCount += 1
            dropEverythingBefore()
            return
        }
        if let file = try? files.open(names.segment(number), for: .writing) {
            try? file.truncate(to: end)
        }
        index.setByteCount(end, of: number)
    }

    private mutating func apply(_ step: RecordWalk.Step, in number: UInt32) {
        let header = step.header
        if header.kind != .entry {
            removals.insert(number)
            index.noteRemoval(in: number)
        }
        switch (header.kind, step.isIntact) {
        case (.entry, true):
            let slot = IndexSlot(header, segment: number, offset: step.offset)
            let reference = header.flags.contains(.inFile) ? reference(header, step.payload) : nil
            let size = reference.flatMap { try? files.size(of: names.value($0.id)) }
            _ = index.put(slot, reference, diskByteCount: size ?? 0)
            if header.flags.contains(.inFile), size == nil { _ = index.markDead(slot) }
        case (.entry, false):
            damagedCount += 1
            _ = index.remove(header.hash)
        case (.removedKey, _):
            _ = index.remove(header.hash)
        case (.removedExpired, _):
            _ = index.removeExpired(upTo: header.expires)
        case (.removedTag, true):
            index.removeTag(Array(step.payload), at: header.sequence)
        case (.removedTag, false):
            damagedCount += 1
            dropEverythingBefore(exceptSegment: number)
        }
    }

    private func reference(
        _ header: RecordHeader,
        _ payload: UnsafeRawBufferPointer
    ) -> LargeValueReference? {
        let codec = RecordCodec(hash: hash, sealing: configuration.sealing, compression: nil)
        guard case .entry(let entry) = codec.read(header, payload, storedKey: nil) else {
            return nil
        }
        return entry.value.reference
    }

    private mutating func dropEverythingBefore(exceptSegment number: UInt32? = nil) {
        let kept = number.flatMap { index.segment($0) }
        let snapshotByteCount = index.snapshotByteCount
        index = DiskIndex()
        index.snapshotByteCount = snapshotByteCount
        needsSnapshot = true
        guard var kept else { return }
        kept.liveCount = 0
        index.addSegment(kept)
    }

    // MARK: Cleanup

    private mutating func settle() {
        let there = Set(values)
        for (hash, value) in index.large where !there.contains(value.reference.id) {
            if let slot = index.slot(of: hash) { _ = index.markDead(slot) }
        }
        while index.byteCount > configuration.byteLimit, index.dropOldest() != nil {}
    }

    private func cleanUp(_ present: [UInt32: Int]) {
        let gone = present.keys.sorted().filter { index.segment($0) == nil }
        if !gone.isEmpty, let last = index.segments.last {
            // The segment that makes them obsolete must last as long as they may return.
            try? files.open(names.segment(last.number), for: .reading).sync()
            try? files.syncFolder(names.folder)
        }
        for number in gone { try? files.remove(names.segment(number)) }
        let kept = Set(index.large.values.map(\.reference.id))
        for id in values where !kept.contains(id) { try? files.remove(names.value(id)) }
        for path in unfinished { try? files.remove(path) }
    }
}

extension IndexSlot {
    init(_ header: RecordHeader, segment: UInt32, offset: Int) {
        self.init(
            hash: header.hash,
            expires: header.flags.contains(.hasExpires) ? header.expires : .max,
            segment: segment,
            offset: UInt32(offset),
            byteCount: UInt32(header.recordByteCount),
            flags: header.flags.contains(.inFile) ? .inFile : []
        )
    }
}
