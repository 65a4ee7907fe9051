/// A parser of event streams (WHATWG HTML, section 9.2.6).
///
/// Append bytes as they arrive and take complete events. Text after the last blank line of a stream is not an event and
/// is dropped with the parser.
public struct ServerSentEventParser: Sendable {
    private let limits: ServerSentEventLimits

    // The bytes appended last, and the position up to which they are parsed.
    private var input: ArraySlice<UInt8> = []
    private var position = 0

    /// The beginning of a line whose end has not arrived yet.
    private var beginning: [UInt8] = []
    private var mustSkipLineFeed = false
    private var isAtStart = true
    private var assembly: ServerSentEventAssembly

    /// Creates a parser at the start of a stream; `lastEventID` was last seen on an earlier connection.
    public init(
        limits: ServerSentEventLimits = ServerSentEventLimits(),
        lastEventID: String = ""
    ) {
        self.limits = limits
        assembly = ServerSentEventAssembly(limit: limits.maximumEventSize, lastEventID: lastEventID)
    }

    /// The pause that the server requests before a client reconnects; nil if it has not requested one.
    public var reconnectionDelay: Duration? { assembly.reconnectionDelay }

    /// The identifier to send when reconnecting; empty if there is none.
    public var lastEventID: String { assembly.lastEventID }

    /// Appends the next bytes; ``next()`` returns the events that they complete.
    public mutating func append(_ bytes: ArraySlice<UInt8>) {
        if position == input.count {
            input = bytes
        } else {
            input = input.dropFirst(position) + bytes
        }
        position = 0
    }

    /// Returns the next complete event, or nil if more bytes are needed.
    ///
    /// - Throws: ``TransportError/Code/lineTooLong`` or ``TransportError/Code/responseTooLarge``; the stream cannot be
    ///   parsed further then.
    public mutating func next() throws(TransportError) -> ServerSentEvent? {
        guard position < input.count else { return nil }
        // A second reference, so that the bytes can be read while the parser changes.
        let bytes = input
        return try bytes.withUnsafeBytes { read($0) }?.get()
    }

    private typealias Step = Result<ServerSentEvent, TransportError>

    /// Parses up to the next event or failure; nil if more bytes are needed.
    private mutating func read(_ bytes: UnsafeRawBufferPointer) -> Step? {
        while position < bytes.count {
            if mustSkipLineFeed {
                mustSkipLineFeed = false
                if bytes[position] == LineEnd.lineFeed {
                    position += 1
                    continue
                }
            }
            let end = LineEnd.find(in: bytes, from: position)
            guard end - position <= limits.maximumLineLength - beginning.count else {
                return .failure(
                    TransportError(
                        .lineTooLong,
                        "A line of the response is longer than the limit of "
                            + "\(limits.maximumLineLength) bytes."
                    )
                )
            }
            let part = UnsafeRawBufferPointer(rebasing: bytes[position..<end])
            guard end < bytes.count else {
                beginning.append(contentsOf: part)
                position = end
                break
            }
            mustSkipLineFeed = bytes[end] == LineEnd.carriageReturn
            position = end + 1
            if let step = take(part) { return step }
        }
        input = []
        position = 0
        return nil
    }

    private mutating func take(_ part: UnsafeRawBufferPointer) -> Step? {
        if beginning.isEmpty, !isAtStart { return assembly.take(line: part) }
        var line = beginning
        line.append(contentsOf: part)
        beginning.removeAll(keepingCapacity: true)
        if isAtStart {
            isAtStart = false
            // A byte order mark at the very start is not part of the text.
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        }
        return line.withUnsafeBytes { assembly.take(line: $0) }
    }
}

/// A search for line ends, eight bytes at a time.
enum LineEnd {
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")

    /// Returns the position of the first LF or CR at or after `start`, or the number of bytes.
    static func find(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        let count = bytes.count
        while index + 8 <= count {
            let word = UInt64(
                littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            )
            let marks =
                zeroBytes(word ^ 0x0A0A_0A0A_0A0A_0A0A)
                | zeroBytes(word ^ 0x0D0D_0D0D_0D0D_0D0D)
            if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count, bytes[index] != lineFeed, bytes[index] != carriageReturn {
            index += 1
        }
        return index
    }

    /// Returns a word whose lowest bit marks the lowest zero byte, in the highest bit of that byte.
    ///
    /// From section 6-1 of "Hacker's Delight" by Henry Warren.
    @inline(__always)
    private static func zeroBytes(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }
}
