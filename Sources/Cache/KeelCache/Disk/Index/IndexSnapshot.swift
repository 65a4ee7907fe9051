internal import KeelCore

/// The index in a file, so that opening need not read every segment.
///
/// Valid up to a position in the log; later records are read from the segments.
struct IndexSnapshot: Sendable {
    private static let magic: UInt32 = 0x3149_434B  // "KCI1"
    private static let version: UInt16 = 1
    private static let headerByteCount = 72
    private static let slotByteCount = 32

    struct Position: Hashable, Sendable {
        var segment: UInt32
        var id: UInt64
        var offset: Int
        var sequence: UInt64
    }

    let position: Position
    let hash: SipHash24
    let segments: [SegmentState]
    let large: [(hash: UInt64, value: DiskIndex.Large)]
    let removedTags: [(tag: [UInt8], sequence: UInt64)]
    let slotCount: Int
    /// The whole file; the slots, which are many, are at its end and read in place.
    private var bytes: [UInt8] = []
    private let slotStart: Int

    static func bytes(
        of index: DiskIndex,
        at position: Position,
        hash: SipHash24,
        isSealed: Bool
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1024 + index.table.count * slotByteCount)
        let first = index.segments.first?.number ?? 0
        bytes.append(littleEndian: magic)
        bytes.append(littleEndian: version)
        bytes.append(littleEndian: UInt16(isSealed ? 1 : 0))
        bytes.append(littleEndian: hash.first)
        bytes.append(littleEndian: hash.second)
        bytes.append(littleEndian: position.sequence)
        bytes.append(littleEndian: position.id)
        bytes.append(littleEndian: UInt64(position.offset))
        bytes.append(littleEndian: position.segment)
        bytes.append(littleEndian: UInt32(index.segments.count))
        bytes.append(littleEndian: UInt32(index.removedTags.count))
        bytes.append(littleEndian: UInt32(index.large.count))
        bytes.append(littleEndian: UInt64(0))
        for segment in index.segments {
            bytes.append(littleEndian: segment.number)
            bytes.append(littleEndian: UInt32(segment.hasRemovals ? 1 : 0))
            bytes.append(littleEndian: segment.id)
            bytes.append(littleEndian: segment.firstSequence)
        }
        for (tag, sequence) in index.removedTags {
            bytes.append(littleEndian: UInt16(tag.count))
            bytes += tag
            bytes.append(littleEndian: sequence)
        }
        for (hash, value) in index.large {
            bytes.append(littleEndian: hash)
            value.reference.append(to: &bytes)
            bytes.append(littleEndian: UInt64(value.diskByteCount))
            bytes.append(littleEndian: UInt64(value.segment))
        }
        bytes += slotBytes(of: index.table, since: first)
        bytes.append(littleEndian: XXHash64.hash(bytes))
        return bytes
    }

    private static func slotBytes(of table: IndexTable, since first: UInt32) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: table.count * slotByteCount) { buffer, filled in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            var position = 0
            table.visit { slot in
                guard slot.segment >= first else { return }
                let expires = slot.expires.littleEndian
                bytes.storeBytes(
                    of: slot.hash.littleEndian,
                    toByteOffset: position,
                    as: UInt64.self
                )
                bytes.storeBytes(of: expires, toByteOffset: position &+ 8, as: Int64.self)
                for (offset, number) in [
                    (16, slot.segment), (20, slot.offset), (24, slot.byteCount),
                    (28, slot.flags.rawValue),
                ] {
                    bytes.storeBytes(
                        of: number.littleEndian,
                        toByteOffset: position &+ offset,
                        as: UInt32.self
                    )
                }
                position &+= slotByteCount
            }
            filled = position
        }
    }
}

extension IndexSnapshot {
    init?(_ bytes: [UInt8], isSealed: Bool) {
        let parsed = bytes.withUnsafeBytes { bytes -> Self? in
            guard bytes.count >= Self.headerByteCount + 8 else { return nil }
            let content = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count - 8)])
            guard bytes.word(at: content.count) == XXHash64.hash(content) else { return nil }
            var cursor = ByteCursor(content)
            return Self(&cursor, isSealed: isSealed)
        }
        guard let parsed else { return nil }
        self = parsed
        self.bytes = bytes
    }

    func visitSlots(_ body: (IndexSlot) -> Void) {
        bytes.withUnsafeBytes { bytes in
            for number in 0..<slotCount {
                let place = slotStart &+ number &* Self.slotByteCount
                let flags = bytes.loadLittleEndian(at: place &+ 28, as: UInt32.self)
                body(
                    IndexSlot(
                        hash: bytes.word(at: place),
                        expires: bytes.loadLittleEndian(at: place &+ 8, as: Int64.self),
                        segment: bytes.loadLittleEndian(at: place &+ 16, as: UInt32.self),
                        offset: bytes.loadLittleEndian(at: place &+ 20, as: UInt32.self),
                        byteCount: bytes.loadLittleEndian(at: place &+ 24, as: UInt32.self),
                        flags: .init(rawValue: flags)
                    )
                )
            }
        }
    }

    private init?(_ cursor: inout ByteCursor, isSealed: Bool) {
        guard cursor.number(UInt32.self) == Self.magic,
            cursor.number(UInt16.self) == Self.version,
            cursor.number(UInt16.self) == (isSealed ? 1 : 0),
            let first = cursor.number(UInt64.self), let second = cursor.number(UInt64.self),
            let sequence = cursor.number(UInt64.self), let id = cursor.number(UInt64.self),
            let offset = cursor.number(UInt64.self), offset < 1 << 32,
            let segment = cursor.number(UInt32.self),
            let segmentCount = cursor.number(UInt32.self),
            let tagCount = cursor.number(UInt32.self),
            let largeCount = cursor.number(UInt32.self),
            cursor.number(UInt64.self) != nil
        else { return nil }
        hash = SipHash24(first: first, second: second)
        position = Position(segment: segment, id: id, offset: Int(offset), sequence: sequence)
        var segments: [SegmentState] = []
        for _ in 0..<segmentCount {
            guard let number = cursor.number(UInt32.self),
                let flags = cursor.number(UInt32.self),
                let id = cursor.number(UInt64.self), let first = cursor.number(UInt64.self)
            else { return nil }
            var segment = SegmentState(number: number, id: id, firstSequence: first, byteCount: 0)
            segment.hasRemovals = flags & 1 != 0
            segments.append(segment)
        }
        self.segments = segments
        var tags: [(tag: [UInt8], sequence: UInt64)] = []
        for _ in 0..<tagCount {
            guard let length = cursor.number(UInt16.self),
                let tag = cursor.stretch(Int(length)), let sequence = cursor.number(UInt64.self)
            else { return nil }
            tags.append((Array(tag), sequence))
        }
        removedTags = tags
        var large: [(hash: UInt64, value: DiskIndex.Large)] = []
        for _ in 0..<largeCount {
            guard let hash = cursor.number(UInt64.self),
                let reference = LargeValueReference(&cursor),
                let size = cursor.number(UInt64.self), size < 1 << 48,
                let segment = cursor.number(UInt64.self), segment <= UInt32.max
            else { return nil }
            let value = DiskIndex.Large(
                reference: reference,
                diskByteCount: Int(size),
                segment: UInt32(segment)
            )
            large.append((hash, value))
        }
        self.large = large
        guard cursor.remaining % Self.slotByteCount == 0 else { return nil }
        slotCount = cursor.remaining / Self.slotByteCount
        slotStart = cursor.position
    }
}
