internal import KeelCore

struct SegmentSurvey {
    let number: UInt64
    let byteCount: Int
    let recordCount: Int
    /// When the last record was appended, in microseconds since 1970.
    let lastTime: Int64

    init?(_ number: UInt64, in folder: JournalFolder) throws(FileSystemError) {
        guard let size = try folder.files.size(of: folder.path(ofSegment: number)) else {
            return nil
        }
        self.number = number
        byteCount = size
        guard let scanner = try folder.scanner(of: number) else {
            (recordCount, lastTime) = (0, .min)
            return
        }
        // A finished segment has its number of records at the end.
        if let whole = try Self.end(of: number, size: size, in: folder) {
            (recordCount, lastTime) = whole
            return
        }
        var rest = scanner
        var (count, time) = (0, scanner.header.time)
        reading: while true {
            switch try rest.next() {
            case .record(let recordTime, _, _):
                count += 1
                time = recordTime
            // Counts as pending until a consumer reads it.
            case .damaged: count += 1
            case .erased: continue
            case .end, .nothing, .needs: break reading
            }
        }
        (recordCount, lastTime) = (count, time)
    }

    private static func end(
        of number: UInt64,
        size: Int,
        in folder: JournalFolder
    ) throws(FileSystemError) -> (Int, Int64)? {
        let offset = size - RecordFrame.endByteCount
        guard offset >= SegmentHeader.byteCount,
            var scanner = try folder.scanner(of: number, at: offset),
            case .end(let count, let time) = try scanner.next()
        else { return nil }
        return (count, time)
    }

    /// The number of records that a consumer has not acknowledged, including corrupt ones.
    func unacknowledged(
        _ progress: SegmentProgress?,
        in folder: JournalFolder
    ) throws(FileSystemError) -> Int {
        try Self.unacknowledged(number, progress, in: folder) ?? recordCount
    }

    /// The same for a segment by number; nil if the segment is new to the consumer.
    static func unacknowledged(
        _ number: UInt64,
        _ progress: SegmentProgress?,
        in folder: JournalFolder
    ) throws(FileSystemError) -> Int? {
        guard let progress else { return nil }
        guard var scanner = try folder.scanner(of: number, at: progress.acknowledgedTo),
            scanner.header.id == progress.id
        else { return nil }
        guard !progress.isDone else { return 0 }
        var count = 0
        while true {
            let offset = scanner.offset
            switch try scanner.next() {
            case .record, .damaged: count += progress.acknowledgedAbove.contains(offset) ? 0 : 1
            case .erased: continue
            case .end, .nothing, .needs: return count
            }
        }
    }
}
