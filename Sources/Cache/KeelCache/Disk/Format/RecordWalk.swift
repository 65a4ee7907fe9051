/// An iterator over the records of a segment that resynchronizes after damage.
struct RecordWalk {
    struct Step {
        let header: RecordHeader
        let payload: UnsafeRawBufferPointer
        let offset: Int
        /// Whether the bytes after the header match its checksum.
        let isIntact: Bool
        /// Whether unreadable bytes lie between this record and the previous one.
        let isAfterDamage: Bool
    }

    private let bytes: UnsafeRawBufferPointer
    private let id: UInt64
    /// The end of the last readable record.
    private(set) var position: Int

    init(_ bytes: UnsafeRawBufferPointer, segment id: UInt64, from offset: Int) {
        self.bytes = bytes
        self.id = id
        position = offset
    }

    mutating func next() -> Step? {
        if let step = step(at: position, isAfterDamage: false) { return step }
        // A header's checksum depends on segment and position, so a value that looks like a record
        // is not mistaken for one.
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
