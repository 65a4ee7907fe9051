/// Goes through the records of a segment, and finds its way again after damage.
struct RecordWalk {
    /// A record on the way.
    struct Step {
        let header: RecordHeader
        let payload: UnsafeRawBufferPointer
        let offset: Int
        /// Whether the bytes after the header are those that were written.
        let isIntact: Bool
        /// Whether something unreadable lies between this record and the one before.
        let isAfterDamage: Bool
    }

    private let bytes: UnsafeRawBufferPointer
    private let id: UInt64
    /// Where the last readable record ends.
    private(set) var position: Int

    /// Begins at an offset of a whole segment's bytes.
    init(_ bytes: UnsafeRawBufferPointer, segment id: UInt64, from offset: Int) {
        self.bytes = bytes
        self.id = id
        position = offset
    }

    /// The next record, nil when no whole one follows.
    mutating func next() -> Step? {
        if let step = step(at: position, isAfterDamage: false) { return step }
        // The checksum of a header depends on the segment and the place, so that a value that looks
        // like a record is not taken for one.
        var candidate = position + 1
        let magic = UInt8(truncatingIfNeeded: RecordHeader.magic)
        while candidate + RecordHeader.byteCount <= bytes.count {
            if bytes[candidate] == magic, let step = step(at: candidate, isAfterDamage: true) {
                return step
            }
            candidate += 1
        }
        return nil
    }

    private mutating func step(at offset: Int, isAfterDamage: Bool) -> Step? {
        guard offset + RecordHeader.byteCount <= bytes.count,
            let header = RecordHeader(
                UnsafeRawBufferPointer(rebasing: bytes[offset...]),
                seed: RecordHeader.seed(segment: id, offset: offset)
            )
        else { return nil }
        let end = offset + header.recordByteCount
        guard end <= bytes.count else { return nil }
        let payload = UnsafeRawBufferPointer(
            rebasing: bytes[offset + RecordHeader.byteCount..<end]
        )
        position = end
        return Step(
            header: header,
            payload: payload,
            offset: offset,
            isIntact: header.isIntact(payload),
            isAfterDamage: isAfterDamage
        )
    }
}
