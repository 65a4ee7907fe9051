internal import KeelCore

/// Reads a segment frame by frame.
struct SegmentScanner {
    /// The longest content of a frame: the longest record, and room for what sealing adds.
    static let contentLimit = (16 << 20) + 4096

    let header: SegmentHeader
    /// Where the next frame begins.
    private(set) var offset: Int

    private let file: any OpenFile
    private var buffer: [UInt8] = []
    private var start = 0

    init(_ file: any OpenFile, _ header: SegmentHeader, at offset: Int) {
        self.file = file
        self.header = header
        self.offset = offset
    }

    /// Looks at the next frame and goes behind it, except where there is nothing to go behind.
    ///
    /// - Parameter limit: Where what may be looked at ends, nil for the end of the file.
    /// - Returns: What is there; never that more bytes are needed.
    /// - Throws: `FileSystemError`.
    mutating func next(upTo limit: Int? = nil) throws(FileSystemError) -> RecordFrame.Finding {
        if let limit, offset >= limit { return .nothing }
        var wanted = RecordFrame.headerByteCount
        while true {
            if offset < start || offset + wanted > start + buffer.count {
                start = offset
                buffer = try file.read(at: offset, count: max(wanted, 64 << 10))
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
            switch finding {
            case .needs(let count): wanted = count
            case .record(_, _, let end), .damaged(let end):
                offset = end
                return finding
            case .end, .nothing: return finding
            }
        }
    }

    /// Whether there are bytes behind the place at which ``next(upTo:)`` found nothing.
    func hasRest() throws(FileSystemError) -> Bool { try file.size() > offset }
}
