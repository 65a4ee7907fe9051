/// Turns the bytes of an event stream into events (WHATWG HTML, section 9.2.6).
///
/// It does no input or output: give it bytes as they come and take what is complete. What follows
/// the last blank line of a stream is no event and is dropped with the parser.
public struct ServerSentEventParser: Sendable {
    /// How long the server asks clients to wait before they connect again; nil until it does.
    public private(set) var reconnectionDelay: Duration?

    /// The identifier that a client should send when it connects again; empty if there is none.
    public private(set) var lastEventID = ""

    private let limits: ServerSentEventLimits
    private var splitter: LineSplitter
    private var isAtStart = true

    // The event that is being put together. The identifier becomes the stream's only when a blank
    // line comes, so that an event cut off half-way is asked for again.
    private var type = ""
    private var data: [UInt8] = []
    private var hasData = false
    private var pendingID = ""

    /// Creates a parser at the start of a stream.
    ///
    /// Give it the identifier last seen on an earlier connection, if there was one.
    public init(
        limits: ServerSentEventLimits = ServerSentEventLimits(),
        lastEventID: String = ""
    ) {
        self.limits = limits
        self.lastEventID = lastEventID
        pendingID = lastEventID
        splitter = LineSplitter(limit: limits.lineBytes)
    }

    /// Adds the next bytes; ``next()`` then gives the events that they complete.
    public mutating func append(_ bytes: ArraySlice<UInt8>) {
        splitter.append(bytes)
    }

    /// Returns the next complete event, or nil if more bytes are needed.
    ///
    /// - Throws: ``TransportError/Code/lineTooLong`` or
    ///   ``TransportError/Code/responseTooLarge`` when a limit is passed.
    public mutating func next() throws(TransportError) -> ServerSentEvent? {
        while let line = try splitter.next() {
            if line.isEmpty {
                isAtStart = false
                if let event = dispatch() { return event }
            } else {
                try read(field: withoutByteOrderMark(line))
            }
        }
        return nil
    }

    private mutating func withoutByteOrderMark(_ line: [UInt8]) -> ArraySlice<UInt8> {
        defer { isAtStart = false }
        return isAtStart && line.starts(with: [0xEF, 0xBB, 0xBF]) ? line[3...] : line[...]
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer {
            type = ""
            data = []
            hasData = false
        }
        lastEventID = pendingID
        // An event without a data line is none; one with an empty data line is.
        guard hasData else { return nil }
        return ServerSentEvent(
            type: type.isEmpty ? "message" : type,
            data: String(decoding: data, as: UTF8.self),
            lastEventID: lastEventID
        )
    }

    private mutating func read(field line: ArraySlice<UInt8>) throws(TransportError) {
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        let name = line[..<(colon ?? line.endIndex)]
        var value = colon.map { line[($0 + 1)...] } ?? []
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        switch String(decoding: name, as: UTF8.self) {
        case "event":
            type = String(decoding: value, as: UTF8.self)
        case "data":
            try read(data: value)
        case "id" where !value.contains(0):
            pendingID = String(decoding: value, as: UTF8.self)
        case "retry" where !value.isEmpty && value.allSatisfy(Self.isDigit):
            // A number too large for any clock is as good as no number.
            if let milliseconds = Int64(String(decoding: value, as: UTF8.self)) {
                reconnectionDelay = .milliseconds(milliseconds)
            }
        default:
            // A comment (its name is empty), or a field that this version of the format lacks.
            break
        }
    }

    private mutating func read(data value: ArraySlice<UInt8>) throws(TransportError) {
        guard value.count < limits.eventBytes - data.count else {
            throw TransportError(
                .responseTooLarge,
                "An event has more data than the limit of \(limits.eventBytes) bytes."
            )
        }
        if hasData { data.append(UInt8(ascii: "\n")) }
        data.append(contentsOf: value)
        hasData = true
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
