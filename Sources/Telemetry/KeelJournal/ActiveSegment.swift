internal import KeelCore

struct ActiveSegment {
    let header: SegmentHeader
    private(set) var end = SegmentHeader.byteCount
    private(set) var count = 0
    /// Whether the segment ends in a torn record that could not be truncated.
    private(set) var isBroken = false

    private let path: String
    private let file: any OpenFile
    /// Shows other processes that the segment has a writer; released with the segment.
    private let lock: any FileLock

    /// Creates a segment; the caller holds the folder's lock.
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

    /// Whether the path still leads to this segment; the folder may have been deleted.
    var isInPlace: Bool { file.isStill(at: path) }

    /// Whether a record fits the limits of a segment; the size of the first one always does.
    ///
    /// Behind a damaged record, a record of a time far from the segment's would not be found.
    func hasRoom(for size: Int, at time: Int64, _ configuration: JournalConfiguration) -> Bool {
        (count == 0 || end + size <= configuration.segmentByteLimit)
            && count < configuration.segmentRecordLimit
            && RecordFrame.isPlausible(time, segmentTime: header.time)
    }

    /// The segment and the end of its last record: how far a synchronization must reach.
    var position: JournalPosition { JournalPosition(segment: header.number, offset: end) }

    /// Appends a record, completely or not at all.
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

    func sync() throws(FileSystemError) { try file.sync() }

    /// Marks the end of the segment.
    ///
    /// A segment without this mark reads the same once its writer is gone, only more slowly.
    func finish(time: Int64) throws(FileSystemError) {
        try file.write(header.end(after: count, at: end, time), at: end)
    }
}

extension SegmentHeader {
    /// Returns the last frame of a segment, which contains the number of records before it.
    func end(after count: Int, at offset: Int, _ time: Int64) -> [UInt8] {
        var content: [UInt8] = []
        content.append(littleEndian: UInt64(count))
        return RecordFrame.bytes(of: content, time: time, at: offset, in: id, isEnd: true)
    }
}
