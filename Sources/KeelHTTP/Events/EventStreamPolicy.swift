public import KeelCore

/// How a stream of events connects again after it was cut off.
public struct EventStreamPolicy: Sendable {
    /// How often in a row, and after what pauses, connecting is tried.
    ///
    /// `attempts` counts the connections that brought no healthy stream.
    public var retry = RetryPolicy(
        attempts: .max,
        baseDelay: .seconds(1),
        maximumDelay: .seconds(30)
    )

    /// How long a stream must have been open for its end to count as the first failure again.
    public var healthyTime: Duration = .seconds(30)

    /// The longest pause that a server can ask for, with `retry:` or `Retry-After`.
    public var longestServerPause: Duration = .seconds(300)

    /// How long the server may keep silent before the connection is given up; nil is no limit.
    ///
    /// It finds connections that are dead. Servers should send a comment every 15 seconds or so
    /// (WHATWG HTML, section 9.2.7); raise it, or set it to nil, for one that is silent for longer.
    public var idleTimeout: Duration? = .seconds(60)

    /// Whether a request that is not idempotent, such as a `POST`, may be sent again.
    ///
    /// Where it may not, the sequence ends with the first connection.
    public var resendsUnsafeRequests = false

    /// How much of the stream is held in memory at the most.
    public var limits = ServerSentEventLimits()

    /// The identifier to go on from; empty begins with what the server sends first.
    public var lastEventID = ""

    /// Gives the share of the longest pause, from 0 to 1, that is really waited.
    public var jitter: @Sendable () -> Double = { Double.random(in: 0...1) }

    /// Creates a policy that never gives up, with pauses of up to 30 seconds.
    public init() {}
}
