public import KeelCore

/// The rules for when and how often an event stream reconnects.
public struct EventStreamPolicy: Sendable {
    /// The number of consecutive connections that are not healthy, and the pauses between them.
    ///
    /// The stream ends after that number, with the last error if there was one.
    public var retry = RetryPolicy(
        attempts: .max,
        baseDelay: .seconds(1),
        maximumDelay: .seconds(30)
    )

    /// The time after which an open connection counts as healthy, so that the count of attempts starts over.
    public var stableAfter: Duration = .seconds(30)

    /// The longest pause that a server can request, with `retry:` or `Retry-After`; a longer one is shortened to it.
    ///
    /// The pause of ``retry`` is added.
    public var maximumServerDelay: Duration = .seconds(300)

    /// The longest silence of the server before the connection is dropped; nil for no limit.
    ///
    /// Servers should send a comment about every 15 seconds (WHATWG HTML, section 9.2.7); raise the limit for a server
    /// with longer silences.
    public var idleTimeout: Duration? = .seconds(60)

    /// Whether a request that is not idempotent, such as a `POST`, may be sent again.
    ///
    /// Otherwise its sequence ends with the first connection, as does that of a request whose body is not replayable.
    public var resendsUnsafeRequests = false

    /// The maximum sizes of the parts held in memory.
    public var limits = ServerSentEventLimits()

    /// The identifier to resume from; empty sends none.
    public var lastEventID = ""

    /// Returns the fraction of the longest pause to wait, from 0 to 1.
    public var jitter: @Sendable () -> Double = { Double.random(in: 0...1) }

    /// Creates the default policy.
    public init() {}
}
