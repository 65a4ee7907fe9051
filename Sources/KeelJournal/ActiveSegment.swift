internal import KeelCore

/// The segment that a journal writes to.
struct ActiveSegment {
    let header: SegmentHeader
    private(set) var end = SegmentHeader.byteCount
    private(set) var count = 0
    /// Whether a torn record is at the end that could not be cut off.
    private(set) var isBroken = false

    private let path: String
    private let file: any OpenFile
    /// Tells others that somebody writes here; released with the segment or the process.
    private let lock: any FileLock

    /// Begins a segment; the folder's lock is held.
    init(_ header: SegmentHeader, in folder: JournalFolder, isSynced: Bool) throws(FileSystemError)
    {
        self.header = header
        path = folder.path(ofSegment: header.number)
        lock = try folder.files.lock(path)
        do throws(FileSystemError) {
            file = try folder.files.open(path, for: .writing)
            try file.write(header.bytes, at: 0)
            if isSynced {
                try file.sync()
                try folder.files.syncFolder(folder.path)
            }
        } catch {
            try? folder.files.remove(path)
            throw error
        }
    }

    /// Whether the path still leads to this segment: somebody may have removed the folder.
    var isInPlace: Bool { file.isStill(at: path) }

    /// Whether so many bytes more are within the limits of a segment; one record always is.
    func hasRoom(for size: Int, _ configuration: JournalConfiguration) -> Bool {
        (count == 0 || end + size <= configuration.segmentByteLimit)
            && count < configuration.segmentRecordLimit
    }

    /// The place and end of the last record: how far a synchronisation has to come.
    var position: JournalPosition { JournalPosition(segment: header.number, offset: end) }

    /// Writes a record at the end, whole or not at all.
    mutating func append(_ content: [UInt8], time: Int64) throws(FileSystemError) {
        let frame = RecordFrame.bytes(of: content, time: time, at: end, in: header.id)
        do throws(FileSystemError) {
            try file.write(frame, at: end)
        } catch {
            isBroken = (try? file.truncate(to: end)) == nil
            throw error
        }
        end += frame.count
        count += 1
    }

    /// Makes what was appended survive a power failure.
    func sync() throws(FileSystemError) { try file.sync() }

    /// Says that nothing follows any more.
    ///
    /// A segment without that is one whose writer is gone, which is as good, only slower to read.
    func finish(time: Int64) throws(FileSystemError) {
        try file.write(header.end(after: count, at: end, time), at: end)
    }
}

extension SegmentHeader {
    /// The last frame of a segment, which says how many records are before it.
    func end(after count: Int, at offset: Int, _ time: Int64) -> [UInt8] {
        var content: [UInt8] = []
        content.append(littleEndian: UInt64(count))
        return RecordFrame.bytes(of: content, time: time, at: offset, in: id, isEnd: true)
    }
}
