public import KeelCore

/// The rules for when and how often an event stream reconnects.
public struct EventStreamPolicy: Sendable {
    /// The number of consecutive attempts to connect, and the pauses between them.
    ///
    /// `attempts` counts the connections without a healthy stream.
    public var retry = RetryPolicy(
        attempts: .max,
        baseDelay: .seconds(1),
        maximumDelay: .seconds(30)
    )

    /// The time after which an open stream counts as healthy, so that the count of failures starts over.
    public var stableAfter: Duration = .seconds(30)

    /// The longest pause that a server can request, with `retry:` or `Retry-After`.
    public var maximumServerDelay: Duration = .seconds(300)

    /// The longest silence of the server before the connection is dropped; nil for no limit.
    ///
    /// The limit detects dead connections. Servers should send a comment about every 15 seconds (WHATWG HTML, section
    /// 9.2.7); raise the limit or set it to nil for a server with longer silences.
    public var idleTimeout: Duration? = .seconds(60)

    /// Whether a request that is not idempotent, such as a `POST`, may be sent again.
    ///
    /// Otherwise the sequence ends with the first connection.
    public var resendsUnsafeRequests = false

    /// The maximum sizes of the parts held in memory.
    public var limits = ServerSentEventLimits()

    /// The identifier to resume from; empty starts at the server's first event.
    public var lastEventID = ""

    /// A closure that returns the fraction of the longest pause to wait, from 0 to 1.
    public var jitter: @Sendable () -> Double = { Double.random(in: 0...1) }

    /// Creates a policy without a limit on attempts and with pauses of up to 30 seconds.
    public init() {}
}
