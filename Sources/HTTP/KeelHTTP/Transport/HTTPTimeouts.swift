/// The time limits inside one exchange; nil means no limit.
///
/// The limit for the whole call, including attempts, pauses, redirects and the body, belongs to the client
/// (``NetworkClient/Configuration/timeout``). The limits for opening a connection and for waiting for a free one belong
/// to the transport because calls share connections.
public struct HTTPTimeouts: Sendable, Hashable {
    /// The time from the start of the exchange, including connecting, to the response head.
    ///
    /// When it passes, the exchange fails with ``TransportError/Code/responseTimeout``.
    public var firstByte: Duration?

    /// The longest time that a reader of the body waits for the next bytes.
    ///
    /// Time in which nobody reads does not count. When it passes, the read fails with
    /// ``TransportError/Code/responseTimeout``.
    public var idle: Duration?

    /// The time from the start of one attempt to the last byte of its body.
    ///
    /// When it passes, the attempt fails with ``TransportError/Code/attemptTimeout``, and another may follow. For
    /// bodies streamed to the caller, the limit ends with the head.
    public var attempt: Duration?

    /// The rate below which a body is abandoned; nil accepts any rate.
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
/// A server that sends a byte now and then passes every idle limit, but not a minimum rate.
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
