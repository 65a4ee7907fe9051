internal import KeelCore

/// What there is in a segment that nobody writes to.
struct SegmentSurvey {
    let number: UInt64
    let byteCount: Int
    let recordCount: Int
    /// When the last record was appended, in microseconds since 1970.
    let lastTime: Int64

    /// Looks at a segment; nil if it is gone.
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
        // A segment that was ended says at its end how many records it has.
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
            // It counts as waiting until a consumer meets it.
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

    /// How many records a consumer has not settled, damaged ones included.
    func unsettled(
        _ progress: SegmentProgress?,
        in folder: JournalFolder
    ) throws(FileSystemError) -> Int {
        try Self.unsettled(number, progress, in: folder) ?? recordCount
    }

    /// How many records of a segment a consumer has not settled, damaged ones included; nil where
    /// the segment is new to it.
    static func unsettled(
        _ number: UInt64,
        _ progress: SegmentProgress?,
        in folder: JournalFolder
    ) throws(FileSystemError) -> Int? {
        guard let progress else { return nil }
        guard var scanner = try folder.scanner(of: number, at: progress.settledTo),
            scanner.header.id == progress.id
        else { return nil }
        guard !progress.isDone else { return 0 }
        var count = 0
        while true {
            let offset = scanner.offset
            switch try scanner.next() {
            case .record, .damaged: count += progress.settledAbove.contains(offset) ? 0 : 1
            case .erased: continue
            case .end, .nothing, .needs: return count
            }
        }
    }
}
