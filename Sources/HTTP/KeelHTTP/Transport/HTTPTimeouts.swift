/// The time limits inside one exchange; nil means no limit.
///
/// The limit for the whole call is the client's (``NetworkClient/Configuration/timeout``). The limits for opening a
/// connection and for waiting for a free one are the transport's, because calls share connections.
public struct HTTPTimeouts: Sendable, Hashable {
    /// The time from the start of the exchange, including connecting and sending, to the response head.
    ///
    /// When it passes, the exchange fails with ``TransportError/Code/responseTimeout``.
    public var firstByte: Duration?

    /// The longest time that a reader of the body waits for the next bytes.
    ///
    /// Time in which nobody reads does not count. When the limit passes, the read fails with
    /// ``TransportError/Code/responseTimeout``. `URLSessionTransport` has one limit for silence, which also applies
    /// before the head.
    public var idle: Duration?

    /// The time from the start of one attempt to the last byte of its body, or to the head of a response that is
    /// streamed to the caller.
    ///
    /// When it passes, the attempt fails with ``TransportError/Code/attemptTimeout``, and another may follow. The
    /// client enforces it.
    public var attempt: Duration?

    /// The rate below which a body fails with ``TransportError/Code/tooSlow``; nil accepts any rate.
    ///
    /// The client enforces it.
    public var minimumRate: TransferRate?

    /// Creates a set of limits.
    public init(
        firstByte: Duration? = nil,
        idle: Duration? = nil,
        attempt: Duration? = nil,
        minimumRate: TransferRate? = nil
    ) {
        self.firstByte = firstByte
        self.idle = idle
        self.attempt = attempt
        self.minimumRate = minimumRate
    }
}

/// A number of bytes per period of time.
///
/// A server that sends a byte now and then passes an idle limit, but not a minimum rate.
public struct TransferRate: Sendable, Hashable {
    /// The number of bytes that must arrive in each ``window``.
    public var bytes: Int

    /// The period of measurement; time in which nobody reads does not count.
    public var window: Duration

    /// Creates a rate.
    public init(bytes: Int, per window: Duration) {
        self.bytes = bytes
        self.window = window
    }
}
