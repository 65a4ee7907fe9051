/// A splitter of bytes into lines that end with CR, LF or CRLF, however the bytes are chunked.
///
/// A line that ends with CR is returned without waiting for a possible LF, so that a live stream is never one line
/// late.
struct LineSplitter: Sendable {
    /// The maximum length of a line in bytes, without its end.
    let limit: Int

    private var input: ArraySlice<UInt8> = []
    private var line: [UInt8] = []
    private var mustSkipLineFeed = false

    init(limit: Int) {
        self.limit = limit
    }

    mutating func append(_ bytes: ArraySlice<UInt8>) {
        input = input.isEmpty ? bytes : input + bytes
    }

    /// Returns the next complete line without its end, or nil if more bytes are needed.
    ///
    /// - Throws: ``TransportError/Code/lineTooLong`` as soon as the limit is exceeded.
    mutating func next() throws(TransportError) -> [UInt8]? {
        if mustSkipLineFeed, let first = input.first {
            mustSkipLineFeed = false
            if first == Self.lineFeed { input.removeFirst() }
        }
        let end = input.firstIndex { $0 == Self.lineFeed || $0 == Self.carriageReturn }
        let part = input[..<(end ?? input.endIndex)]
        guard part.count <= limit - line.count else {
            throw TransportError(
                .lineTooLong,
                "A line of the response is longer than the limit of \(limit) bytes."
            )
        }
        line.append(contentsOf: part)
        guard let end else {
            input = []
            return nil
        }
        mustSkipLineFeed = input[end] == Self.carriageReturn
        input = input[(end + 1)...]
        defer { line = [] }
        return line
    }

    /// Returns the bytes after the last line end, or nil if there are none.
    mutating func finish() -> [UInt8]? {
        defer { line = [] }
        return line.isEmpty ? nil : line
    }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
}
