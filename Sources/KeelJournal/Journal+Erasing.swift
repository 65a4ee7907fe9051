internal import KeelCore

extension Journal {
    /// Overwrites records on the disk, whether they are settled or not.
    ///
    /// Nobody gets them any more, and they are in no count but those of consumers that had settled
    /// them. The segment that is being written is ended first. What does not open with the journal's
    /// keys, what is damaged, and what another process writes at the moment stay as they are.
    ///
    /// A crash in between leaves some of them overwritten, and the others as they were.
    ///
    /// - Parameter matches: Whether a record is erased. It must not call the journal.
    /// - Throws: ``JournalError``.
    public func erase(where matches: (JournalRecord) -> Bool) throws(JournalError) {
        try close()
        do throws(FileSystemError) {
            for number in try folder.segments() {
                try folder.locked { () throws(FileSystemError) in
                    guard try folder.isLive(number) == false else { return }
                    try erase(in: number, where: matches)
                }
            }
        } catch {
            throw JournalError(error, "Erasing records")
        }
    }

    /// Overwrites records of a segment that nobody writes to; the folder's lock is held.
    private func erase(
        in number: UInt64,
        where matches: (JournalRecord) -> Bool
    ) throws(FileSystemError) {
        guard var scanner = try folder.scanner(of: number) else { return }
        let header = scanner.header
        var chosen: [(offset: Int, count: Int, time: Int64)] = []
        var kept = 0
        var end: (offset: Int, time: Int64)?
        reading: while true {
            let offset = scanner.offset
            switch try scanner.next() {
            case .record(let time, let content, _):
                let position = JournalPosition(segment: number, offset: offset)
                if let bytes = try? open(content, position, header),
                    matches(JournalRecord(position: position, time: time, bytes: bytes))
                {
                    chosen.append((offset, content.count, time))
                } else {
                    kept += 1
                }
            case .damaged: kept += 1
            case .erased: continue
            case .end(_, let time):
                end = (offset, time)
                break reading
            case .nothing, .needs: break reading
            }
        }
        guard !chosen.isEmpty else { return }
        let file = try folder.files.open(folder.path(ofSegment: number), for: .writing)
        // The end says how many records there are: without it they are counted one by one.
        if let end { try file.truncate(to: end.offset) }
        for record in chosen {
            let frame = RecordFrame.bytes(
                of: [UInt8](repeating: 0, count: record.count),
                time: record.time,
                at: record.offset,
                in: header.id,
                isErased: true
            )
            try file.write(frame, at: record.offset)
        }
        if let (offset, time) = end {
            try file.write(header.end(after: kept, at: offset, time), at: offset)
        }
        try file.sync()
    }

    /// The content of a record as it was appended.
    func open(
        _ content: [UInt8],
        _ position: JournalPosition,
        _ header: SegmentHeader
    ) throws(JournalError) -> [UInt8] {
        guard header.isSealed else { return content }
        guard let sealing = configuration.sealing else {
            throw JournalError(
                .sealingFailed,
                "The journal has sealed records and no keys are given"
            )
        }
        do {
            return try sealing.open(content, context: Journal.context(position, header))
        } catch {
            throw JournalError(.sealingFailed, "A record does not open", cause: error)
        }
    }
}
