/// The time limits inside one exchange; nil means no limit.
///
/// The limit over everything, attempts, pauses, redirects and the whole body included, is the
/// client's (``NetworkClient/Configuration/timeout``). How long a connection may take to open, and
/// how long a call may wait for a free one, are set on the transport, because connections are
/// shared between calls.
public struct HTTPTimeouts: Sendable, Hashable {
    /// From the start of the exchange, connecting included, to the head of the response.
    ///
    /// When it passes, the exchange fails with ``TransportError/Code/responseTimeout``.
    public var firstByte: Duration?

    /// How long a reader of the body may wait for the next bytes.
    ///
    /// Time in which nobody reads does not count. When it passes, the read fails with
    /// ``TransportError/Code/responseTimeout``.
    public var idle: Duration?

    /// From the start of one attempt to the last byte of its body.
    ///
    /// When it passes, the attempt fails with ``TransportError/Code/attemptTimeout``, and another
    /// may follow. Bodies that are streamed to the caller are exempt: the limit ends with the head.
    public var attempt: Duration?

    /// The rate below which a body is given up; nil accepts any.
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

/// An amount of bytes in a span of time.
///
/// A server that sends a byte now and then passes every idle limit; a rate stops it.
public struct TransferRate: Sendable, Hashable {
    /// How many bytes must arrive in each ``window``.
    public var bytes: Int

    /// The span over which is measured; time in which nobody reads does not count.
    public var window: Duration

    /// Creates a rate.
    public init(bytes: Int, per window: Duration) {
        self.bytes = bytes
        self.window = window
    }
}
