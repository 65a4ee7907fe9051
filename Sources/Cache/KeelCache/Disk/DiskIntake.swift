internal import KeelCore

/// Prepares entries for writing, on the caller's thread.
struct DiskIntake {
    private let store: DiskStore
    private(set) var records: [PreparedRecord] = []
    /// Files that have their final name but no record yet.
    private var drafts: [LargeValueDraft] = []

    init(_ store: DiskStore) { self.store = store }

    func makesFile(of body: CacheBody) -> Bool {
        if case .file = body { return true }
        return body.count > store.configuration.usedLargeValueByteCount
    }

    mutating func take(_ record: CacheRecord) throws(CacheError) {
        guard record.key.count <= RecordCodec.longestKey else {
            throw CacheError(.invalidArgument, "a key is longer than 65,535 bytes")
        }
        let storedKey = try store.codec.storedKey(record.key)
        let value: StoredValue
        var draft: LargeValueDraft?
        do throws(CacheError) {
            (value, draft) = try stored(record.body)
        } catch {
            guard error.code == .tooLarge else { throw error }
            // Larger than the whole limit: removes the key, so that no old value remains.
            var header = RecordHeader(kind: .removedKey)
            header.hash = store.codec.hash.hash(storedKey)
            records.append(PreparedRecord(header: header, payload: []))
            return
        }
        if let draft { drafts.append(draft) }
        var prepared = try store.codec.prepare(record, storedKey, value)
        prepared.diskByteCount = draft?.diskByteCount ?? 0
        prepared.draft = draft
        records.append(prepared)
    }

    func abandon() { for draft in drafts { draft.abandon() } }

    private func stored(
        _ body: CacheBody
    ) throws(CacheError) -> (StoredValue, LargeValueDraft?) {
        switch body {
        case .file(let file): try kept(file)
        case .bytes(let bytes): try kept(bytes)
        }
    }

    private func kept(_ bytes: [UInt8]) throws(CacheError) -> (StoredValue, LargeValueDraft?) {
        var value = StoredValue(bytes: bytes, plainByteCount: bytes.count)
        if let compression = store.codec.compression, let small = compression.compressed(bytes) {
            value.bytes = small
            value.compression = compression.identifier
        }
        guard value.bytes.count > store.configuration.usedLargeValueByteCount else {
            return (value, nil)
        }
        let writer = try writer(for: value.bytes.count)
        try writer.append(value.bytes)
        guard let draft = try adopt(try writer.finish(), &value) else { throw Self.lost }
        value.bytes = []
        return (value, draft)
    }

    private func kept(
        _ file: any CacheFile
    ) throws(CacheError) -> (StoredValue, LargeValueDraft?) {
        var value = StoredValue(isFile: true, plainByteCount: file.count)
        if let draft = try adopt(file, &value) { return (value, draft) }
        // A file of another tier, or one that another record refers to.
        let writer = try writer(for: file.count)
        var position = 0
        while position < file.count {
            let piece = try file.read(from: position, upTo: LargeValueFormat.chunkByteCount)
            guard !piece.isEmpty else {
                throw CacheError(.damaged, "a file ended before its declared length")
            }
            try writer.append(piece)
            position += piece.count
        }
        guard let draft = try adopt(try writer.finish(), &value) else { throw Self.lost }
        return (value, draft)
    }

    /// Returns a writer, unless the value cannot fit: its first pieces would evict other entries in vain.
    private func writer(for byteCount: Int) throws(CacheError) -> LargeValueWriter {
        let format = LargeValueFormat(id: 0, sealing: store.codec.sealing)
        guard format.fewestBytes(of: byteCount) <= store.byteLimit else { throw .aboveLimit }
        return try LargeValueWriter(in: store)
    }

    private static let lost = CacheError(
        .unavailable,
        "the cache’s folder was removed while a large value was being written"
    )

    private func adopt(
        _ file: any CacheFile,
        _ value: inout StoredValue
    ) throws(CacheError) -> LargeValueDraft? {
        guard let file = file as? DiskCacheFile, file.isIn(store), let draft = file.draft,
            try draft.adopt()
        else { return nil }
        value.reference = LargeValueReference(
            id: file.reference.id,
            byteCount: file.reference.byteCount,
            plainByteCount: value.plainByteCount
        )
        return draft
    }
}
