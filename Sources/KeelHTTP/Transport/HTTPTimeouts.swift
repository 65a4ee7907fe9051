/// The time limits inside one exchange; nil means no limit.
///
/// The limit over everything, redirects and the whole body included, is the client's
/// (``NetworkClient/Configuration/timeout``). How long a connection may take to open is set on the
/// transport, because connections are shared between calls.
public struct HTTPTimeouts: Sendable, Hashable {
    /// From the start of the call, connecting included, to the head of the response.
    ///
    /// When it passes, the call fails with ``TransportError/Code/responseTimeout``.
    public var firstByte: Duration?

    /// How long a reader of the body may wait for the next bytes.
    ///
    /// Time in which nobody reads does not count. When it passes, the read fails with
    /// ``TransportError/Code/responseTimeout``.
    public var idle: Duration?

    /// Creates a set of limits.
    public init(firstByte: Duration? = nil, idle: Duration? = nil) {
        self.firstByte = firstByte
        self.idle = idle
    }
}
