/// One event of a stream of server-sent events (WHATWG HTML, section 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The type of the event; `message` where the server named none.
    public var type: String

    /// The data lines, joined with line feeds.
    public var data: String

    /// The identifier that was last seen on the stream, this event included; empty if none was.
    ///
    /// Send it as `Last-Event-ID` to go on from here.
    public var lastEventID: String

    /// Creates an event.
    public init(type: String = "message", data: String, lastEventID: String = "") {
        self.type = type
        self.data = data
        self.lastEventID = lastEventID
    }
}

/// How much of a stream of events is held in memory at the most.
public struct ServerSentEventLimits: Sendable, Hashable {
    /// The most bytes that a line may have.
    public var lineBytes: Int

    /// The most bytes that the data of one event may have.
    public var eventBytes: Int

    /// Creates a set of limits.
    public init(lineBytes: Int = 1 << 20, eventBytes: Int = 8 << 20) {
        self.lineBytes = lineBytes
        self.eventBytes = eventBytes
    }
}
