internal import KeelCore

struct SegmentScanner {
    /// The maximum content length: the longest record, and room for the sealing overhead.
    static let contentLimit = (16 << 20) + 4096
    private static let stretch = 64 << 10

    let header: SegmentHeader
    private(set) var offset: Int

    private let file: any OpenFile
    private var buffer: [UInt8] = []
    private var start = 0

    init(_ file: any OpenFile, _ header: SegmentHeader, at offset: Int) {
        self.file = file
        self.header = header
        self.offset = offset
    }

    /// Inspects the next frame, if there is one before `limit`, and moves past it.
    ///
    /// The length of a corrupt frame may be wrong: the scan resumes at the next intact frame.
    ///
    /// - Returns: The finding; never ``RecordFrame/Finding/needs(_:)``.
    mutating func next(upTo limit: Int? = nil) throws(FileSystemError) -> RecordFrame.Finding {
        if let limit, offset >= limit { return .nothing }
        let finding = try look()
        switch finding {
        case .record(_, _, let end), .erased(let end):
            offset = end
        case .damaged(let end):
            let next = try wholeFrame(below: limit ?? .max)
            // Other corrupt frames may lie in between, if their lengths lead to the intact one.
            let isLength = try next.map { next throws(FileSystemError) in
                try leads(from: end, to: next)
            }
            offset = isLength == false ? next ?? end : end
            return .damaged(end: offset)
        case .nothing where limit == nil:
            guard let next = try wholeFrame(below: .max) else { return .nothing }
            offset = next
            return .damaged(end: next)
        case .end, .nothing, .needs: break
        }
        return finding
    }

    private mutating func look() throws(FileSystemError) -> RecordFrame.Finding {
        var wanted = RecordFrame.headerByteCount
        while true {
            if offset < start || offset + wanted > start + buffer.count {
                start = offset
                buffer = try file.read(at: offset, count: max(wanted, Self.stretch))
                guard buffer.count >= wanted else { return .nothing }
            }
            let finding = buffer.withUnsafeBytes { bytes in
                RecordFrame.look(
                    bytes,
                    from: start,
                    at: offset,
                    in: header.id,
                    limit: Self.contentLimit
                )
            }
            guard case .needs(let count) = finding else { return finding }
            wanted = count
        }
    }

    /// Whether the lengths of corrupt frames lead from one offset to another.
    private func leads(from start: Int, to end: Int) throws(FileSystemError) -> Bool {
        var place = start
        while place < end {
            var probe = SegmentScanner(file, header, at: place)
            guard case .damaged(let next) = try probe.look() else { return false }
            place = next
        }
        return place == end
    }

    /// The offset of the first intact frame after the start of the current one.
    private func wholeFrame(below limit: Int) throws(FileSystemError) -> Int? {
        let size = try file.size()
        var place = offset + RecordFrame.headerByteCount
        let last = min(limit, size - RecordFrame.headerByteCount + 1)
        while place < last {
            let bytes = try file.read(at: place, count: Self.stretch)
            let count = min(bytes.count - RecordFrame.headerByteCount + 1, last - place)
            guard count > 0 else { return nil }
            let candidates = bytes.withUnsafeBytes { bytes in
                (0..<count).filter { index in
                    RecordFrame.mayBegin(
                        bytes,
                        at: index,
                        rest: size - place - index,
                        segmentTime: header.time
                    )
                }
            }
            for candidate in candidates {
                var probe = SegmentScanner(file, header, at: place + candidate)
                switch try probe.look() {
                case .record, .erased, .end: return place + candidate
                case .damaged, .nothing, .needs: continue
                }
            }
            place += count
        }
        return nil
    }

    /// Whether there are bytes after the offset at which ``next(upTo:)`` found nothing.
    func hasRest() throws(FileSystemError) -> Bool { try file.size() > offset }
}
