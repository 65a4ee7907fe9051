internal import KeelCore

/// Keeps a journal within its bounds, by whole segments.
///
/// All calls require the folder's lock.
struct Retention {
    private let folder: JournalFolder
    private let configuration: JournalConfiguration
    private let now: Int64

    init(_ folder: JournalFolder, _ configuration: JournalConfiguration, now: Int64) {
        self.folder = folder
        self.configuration = configuration
        self.now = now
    }

    /// Makes room for a new segment whose first record has a given size.
    ///
    /// - Returns: The number of unacknowledged segments removed, and whether there is still no room.
    func makeRoom(for size: Int) throws(FileSystemError) -> (removed: Int, isFull: Bool) {
        try removeAcknowledged()
        var removed = 0
        var surveys: [SegmentSurvey] = []
        for number in try folder.segments() {
            if let survey = try SegmentSurvey(number, in: folder) { surveys.append(survey) }
        }
        let oldest = folder.oldest(configuration, at: now) ?? .min
        for survey in surveys {
            let mustGo = isOver(surveys, size) && configuration.overflow == .dropOldest
            // A segment that a process still writes to cannot be removed.
            guard survey.lastTime < oldest || mustGo,
                try folder.isLive(survey.number) == false
            else { continue }
            try drop(survey)
            removed += 1
            surveys.removeAll { $0.number == survey.number }
        }
        let isFull = configuration.overflow == .refuse && isOver(surveys, size)
        return (removed, isFull)
    }

    private func isOver(_ surveys: [SegmentSurvey], _ size: Int) -> Bool {
        let bytes = surveys.reduce(0) { $0 + $1.byteCount }
        // The new segment may grow to its share, and a large record beyond it.
        let wanted = max(configuration.segmentByteLimit, size + SegmentHeader.byteCount)
        if bytes + wanted > configuration.byteLimit { return !surveys.isEmpty }
        guard let limit = configuration.recordLimit else { return false }
        let records = surveys.reduce(0) { $0 + $1.recordCount }
        return records + configuration.segmentRecordLimit > limit && !surveys.isEmpty
    }

    /// Removes a segment, and counts its unacknowledged records for each consumer.
    private func drop(_ survey: SegmentSurvey) throws(FileSystemError) {
        var losses: [LostRecords] = []
        for name in try folder.consumers() {
            let cursor = try folder.contents(of: name + JournalFolder.cursorSuffix)
                .flatMap(CursorFile.init)
            let progress = cursor?.segments[survey.number]
            let lost = try survey.unacknowledged(progress, in: folder)
            guard lost > 0 else { continue }
            var file = try LostRecords(of: name, in: folder)
            try file.add(lost, of: survey.number)
            losses.append(file)
        }
        do throws(FileSystemError) {
            while let file = losses.last {
                try file.store(isSynced: isSynced)
                losses.removeLast()
            }
        } catch {
            // On a full disk, only the segment can make room for the counts: a process that ends in between misses
            // them, but new records are kept.
            guard error.kind == .noSpace else { throw error }
        }
        try folder.files.remove(folder.path(ofSegment: survey.number))
        for file in losses { try file.store(isSynced: isSynced) }
    }

    private var isSynced: Bool { configuration.durability == .power }

    /// Removes the segments that every consumer has acknowledged, if there are consumers.
    ///
    /// The newest stays, so that the next number is higher than any before.
    func removeAcknowledged() throws(FileSystemError) {
        let names = try folder.consumers()
        guard !names.isEmpty, let newest = try folder.segments().last else { return }
        var done: Set<UInt64>?
        for name in names {
            let cursor =
                try folder.contents(of: name + JournalFolder.cursorSuffix)
                .flatMap(CursorFile.init) ?? CursorFile()
            let own = Set(cursor.segments.filter(\.value.isDone).keys)
            done = done?.intersection(own) ?? own
        }
        for number in (done ?? []).subtracting([newest]).sorted() {
            guard try folder.isLive(number) == false else { continue }
            try folder.files.remove(folder.path(ofSegment: number))
        }
    }
}
