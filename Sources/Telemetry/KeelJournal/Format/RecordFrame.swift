internal import KeelCore

/// The frame of a record in a segment: 16 bytes, then the content.
///
/// | bytes | content |
/// |---|---|
/// | 0–3 | the length of the content; the highest bit marks the end of a segment, the next an erased record |
/// | 4–7 | CRC-32C over the segment's id, the offset, bytes 0–3 and 8–15, and the content |
/// | 8–15 | when the record was appended, in microseconds since 1970 |
enum RecordFrame {
    static let headerByteCount = 16
    /// The length of a segment's last frame, whose content is the number of records before it.
    static let endByteCount = headerByteCount + 8
    private static let endMark: UInt32 = 1 << 31
    private static let erasedMark: UInt32 = 1 << 30
    /// The maximum distance of a record's time from its segment's, in microseconds: ten years.
    private static let timeLimit: UInt64 = 10 * 366 * 86_400 * 1_000_000

    static func bytes(
        of content: [UInt8],
        time: Int64,
        at offset: Int,
        in segment: UInt64,
        isEnd: Bool = false,
        isErased: Bool = false
    ) -> [UInt8] {
        let marks = (isEnd ? endMark : 0) | (isErased ? erasedMark : 0)
        let length = UInt32(content.count) | marks
        return content.withUnsafeBytes { content in
            let checksum = checksum(length, time, content, at: offset, in: segment)
            let count = headerByteCount + content.count
            return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                let bytes = UnsafeMutableRawBufferPointer(buffer)
                bytes.storeBytes(of: length.littleEndian, as: UInt32.self)
                bytes.storeBytes(of: checksum.littleEndian, toByteOffset: 4, as: UInt32.self)
                bytes.storeBytes(of: time.littleEndian, toByteOffset: 8, as: Int64.self)
                UnsafeMutableRawBufferPointer(rebasing: bytes[headerByteCount..<count])
                    .copyMemory(from: content)
                filled = count
            }
        }
    }

    private static func checksum(
        _ length: UInt32,
        _ time: Int64,
        _ content: UnsafeRawBufferPointer,
        at offset: Int,
        in segment: UInt64
    ) -> UInt32 {
        var checksum = CRC32C()
        let place = (
            segment.littleEndian, UInt64(offset).littleEndian, UInt64(length).littleEndian,
            UInt64(bitPattern: time).littleEndian
        )
        withUnsafeBytes(of: place) { checksum.update($0) }
        checksum.update(content)
        return checksum.value
    }

    enum Finding {
        case record(time: Int64, content: [UInt8], end: Int)
        /// A record whose content was overwritten.
        case erased(end: Int)
        /// The end mark of the writer, and the number of records before it.
        case end(count: Int, time: Int64)
        /// A frame with a wrong checksum; the next one may be intact.
        case damaged(end: Int)
        /// No plausible frame: the end of the written data, or a torn record.
        case nothing
        /// Not enough bytes to decide.
        case needs(Int)
    }

    /// Inspects the frame at an offset in a segment, of which `bytes` is the range that begins at `start`.
    static func look(
        _ bytes: UnsafeRawBufferPointer,
        from start: Int,
        at offset: Int,
        in segment: UInt64,
        limit: Int
    ) -> Finding {
        let place = offset - start
        guard bytes.count - place >= headerByteCount else { return .needs(headerByteCount) }
        let length = bytes.loadLittleEndian(at: place, as: UInt32.self)
        let time = Int64(bitPattern: bytes.word(at: place + 8))
        let isEnd = length & endMark != 0
        let count = Int(length & ~(endMark | erasedMark))
        // A file system leaves zeros where a write was lost.
        let isPlausible = isEnd ? count == 8 : count <= limit && (length != 0 || time != 0)
        guard isPlausible else { return .nothing }
        let whole = headerByteCount + count
        guard bytes.count - place >= whole else { return .needs(whole) }
        let content = UnsafeRawBufferPointer(
            rebasing: bytes[place + headerByteCount..<place + whole]
        )
        let stored = bytes.loadLittleEndian(at: place + 4, as: UInt32.self)
        guard stored == checksum(length, time, content, at: offset, in: segment) else {
            return .damaged(end: offset + whole)
        }
        if isEnd { return .end(count: Int(content.word(at: 0)), time: time) }
        if length & erasedMark != 0 { return .erased(end: offset + whole) }
        return .record(time: time, content: Array(content), end: offset + whole)
    }

    /// Whether a frame could begin at an index, judging by its length and time, so that it is worth inspecting.
    ///
    /// `bytes` include the 16 bytes of its header; the segment has `rest` bytes from there on.
    static func mayBegin(
        _ bytes: UnsafeRawBufferPointer,
        at place: Int,
        rest: Int,
        segmentTime: Int64
    ) -> Bool {
        let length = bytes.loadLittleEndian(at: place, as: UInt32.self)
        guard headerByteCount + Int(length & ~(endMark | erasedMark)) <= rest else { return false }
        return isPlausible(Int64(bitPattern: bytes.word(at: place + 8)), segmentTime: segmentTime)
    }

    /// Whether a record of a time can be in a segment that was created at another.
    static func isPlausible(_ time: Int64, segmentTime: Int64) -> Bool {
        time.distance(from: segmentTime) <= timeLimit
    }
}

extension Int64 {
    fileprivate func distance(from other: Int64) -> UInt64 {
        self > other ? UInt64(bitPattern: self &- other) : UInt64(bitPattern: other &- self)
    }
}
