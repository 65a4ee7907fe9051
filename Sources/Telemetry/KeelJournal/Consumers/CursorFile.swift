internal import KeelCore

/// The records that a consumer has acknowledged, as stored in its file.
///
/// | bytes | content |
/// |---|---|
/// | 0–3, 4–5, 6–7 | the letters `KJC1`, the version, zero |
/// | 8–11 | the number of segments that follow |
/// | for each: 8, 8 | its number and its id |
/// | 8, 4 | the offset before which all is acknowledged, or all ones when it is done; the number of offsets that follow |
/// | for each: 8 | the start of an acknowledged record after that |
/// | version 2: 8, 8 | the number of expired records, the number of corrupt records |
/// | 4, as many | the length of the consumer's note, the note |
/// | last 4 | CRC-32C of everything before |
///
/// A segment that is not listed is new to the consumer. Version 2 is written only if needed.
struct CursorFile: Hashable, Sendable {
    private static let magic: UInt32 = 0x3143_4A4B  // "KJC1"
    static let noteByteLimit = 4096

    var segments: [UInt64: SegmentProgress] = [:]
    var expired = 0
    var damaged = 0
    var note: [UInt8] = []

    init() {}

    var bytes: [UInt8] {
        let version: UInt16 = expired == 0 && damaged == 0 && note.isEmpty ? 1 : 2
        var bytes: [UInt8] = []
        bytes.append(littleEndian: Self.magic)
        bytes.append(littleEndian: version)
        bytes.append(littleEndian: UInt16(0))
        bytes.append(littleEndian: UInt32(segments.count))
        for (number, progress) in segments.sorted(by: { $0.key < $1.key }) {
            bytes.append(littleEndian: number)
            bytes.append(littleEndian: progress.id)
            bytes.append(littleEndian: progress.isDone ? .max : UInt64(progress.acknowledgedTo))
            bytes.append(littleEndian: UInt32(progress.acknowledgedAbove.count))
            for offset in progress.acknowledgedAbove.sorted() {
                bytes.append(littleEndian: UInt64(offset))
            }
        }
        if version == 2 {
            bytes.append(littleEndian: UInt64(expired))
            bytes.append(littleEndian: UInt64(damaged))
            bytes.append(littleEndian: UInt32(note.count))
            bytes += note
        }
        bytes.append(littleEndian: CRC32C.checksum(bytes))
        return bytes
    }

    /// Parses a file; nil if it is corrupt: all records are then returned again.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 16 else { return nil }
        let content = Array(bytes.dropLast(4))
        let file = bytes.withUnsafeBytes { buffer -> CursorFile? in
            let stored = buffer.loadLittleEndian(at: content.count, as: UInt32.self)
            guard stored == CRC32C.checksum(content) else { return nil }
            var cursor = ByteCursor(UnsafeRawBufferPointer(rebasing: buffer.dropLast(4)))
            return CursorFile(&cursor)
        }
        guard let file else { return nil }
        self = file
    }

    private init?(_ cursor: inout ByteCursor) {
        guard cursor.number(UInt32.self) == Self.magic,
            let version = cursor.number(UInt16.self), (1...2).contains(version),
            cursor.number(UInt16.self) != nil, let count = cursor.number(UInt32.self)
        else { return nil }
        for _ in 0..<count {
            guard let number = cursor.number(UInt64.self), let progress = Self.progress(&cursor)
            else { return nil }
            segments[number] = progress
        }
        guard version == 2 else { return }
        guard let expired = cursor.number(UInt64.self), let damaged = cursor.number(UInt64.self),
            let length = cursor.number(UInt32.self), let note = cursor.stretch(Int(length))
        else { return nil }
        self.expired = Int(truncatingIfNeeded: expired)
        self.damaged = Int(truncatingIfNeeded: damaged)
        self.note = Array(note)
    }

    private static func progress(_ cursor: inout ByteCursor) -> SegmentProgress? {
        guard let id = cursor.number(UInt64.self), let end = cursor.number(UInt64.self),
            let acknowledgedTo = end == .max ? 0 : Self.offset(end),
            let places = cursor.number(UInt32.self), cursor.remaining >= 8 * Int(places)
        else { return nil }
        var above: Set<Int> = []
        for _ in 0..<places {
            guard let start = cursor.number(UInt64.self).flatMap(Self.offset) else { return nil }
            above.insert(start)
        }
        var progress = SegmentProgress(
            of: id,
            acknowledgedTo: acknowledgedTo,
            acknowledgedAbove: above
        )
        progress.isDone = end == .max
        return progress
    }

    /// Returns an offset, or nil for one that no file has and with which no sum fits.
    private static func offset(_ number: UInt64) -> Int? {
        number <= UInt64(Int.max / 2) ? Int(number) : nil
    }
}
