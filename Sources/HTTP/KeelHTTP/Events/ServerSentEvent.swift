/// One event of a stream of server-sent events (WHATWG HTML, section 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The type of the event; `message` if the server did not set one.
    public var type: String

    /// The data lines, joined with line feeds.
    public var data: String

    /// The identifier last seen on the stream, including this event; empty if there was none.
    ///
    /// Send it as `Last-Event-ID` to resume from here.
    public var lastEventID: String

    /// Creates an event.
    public init(type: String = "message", data: String, lastEventID: String = "") {
        self.type = type
        self.data = data
        self.lastEventID = lastEventID
    }
}

/// The maximum sizes of the parts of an event stream held in memory.
public struct ServerSentEventLimits: Sendable, Hashable {
    /// The maximum length of a line, in bytes.
    public var maximumLineLength: Int

    /// The maximum size of the data of one event, in bytes.
    public var maximumEventSize: Int

    /// Creates a set of limits.
    public init(maximumLineLength: Int = 1 << 20, maximumEventSize: Int = 8 << 20) {
        self.maximumLineLength = maximumLineLength
        self.maximumEventSize = maximumEventSize
    }
}
