internal import KeelCore

extension Journal {
    /// Overwrites records on disk, whether acknowledged or not.
    ///
    /// Erased records are never returned again, and stay counted only by consumers that had acknowledged them. The
    /// current segment is ended first. Records that do not decrypt with the journal's keys, corrupt records, and
    /// segments that another process is writing stay unchanged. A crash leaves some of the records erased.
    ///
    /// - Parameter matches: Returns whether a record is erased. It must not call the journal.
    /// - Throws: ``JournalError``. Some of the records can then be erased.
    public func erase(where matches: (JournalRecord) -> Bool) throws(JournalError) {
        _ = try eraseClosed(where: matches)
    }

    /// Overwrites records as ``erase(where:)`` does.
    ///
    /// - Returns: Whether all segments were examined; false if another process is writing one of them.
    package func eraseClosed(
        where matches: (JournalRecord) -> Bool
    ) throws(JournalError) -> Bool {
        try close()
        return try JournalError.mapped("Erasing records") { () throws(FileSystemError) in
            var isComplete = true
            for number in try folder.segments() {
                let isLive = try folder.locked { () throws(FileSystemError) in
                    let isLive = try folder.isLive(number)
                    if isLive == false { try erase(in: number, where: matches) }
                    return isLive
                }
                // This journal may have begun a segment in the meantime.
                if isLive == true, activeEnd?.segment != number { isComplete = false }
            }
            return isComplete
        }
    }

    /// Overwrites records of a segment without a writer; the caller holds the folder's lock.
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
        // The end mark has the number of records; without it they are counted one by one.
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

    func open(
        _ content: [UInt8],
        _ position: JournalPosition,
        _ header: SegmentHeader
    ) throws(JournalError) -> [UInt8] {
        guard header.isSealed else { return content }
        guard let sealing = configuration.sealing else {
            throw JournalError(
                .sealingFailed,
                "The journal has sealed records, but no keys are given"
            )
        }
        do {
            return try sealing.open(content, context: Journal.context(position, header))
        } catch {
            throw JournalError(.sealingFailed, "A record cannot be decrypted", cause: error)
        }
    }
}
