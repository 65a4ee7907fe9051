public import KeelCore
public import KeelStorage

extension Outbox {
    /// The policy for later writes of a key after a write is rejected or cannot be read.
    public enum Rejection: Sendable, Hashable {
        /// Later writes are sent: for writes that contain the complete state, such as `PUT`.
        case continuesKey
        /// Later writes wait until the rejected write is sent again or dropped, or the damaged entry becomes readable
        /// or is dropped: for writes that depend on earlier ones. A damaged entry whose key cannot be read holds all
        /// keys.
        case holdsKey
    }

    /// The settings of an outbox.
    public struct Configuration: Sendable {
        /// The number of attempts per write and the delays between them.
        ///
        /// Attempts that did not reach the server do not count, but their delays grow, too. The total limit starts when
        /// the write is enqueued, edited, or sent again by ``Outbox/retry(_:)``.
        public var retry = RetryPolicy(
            attempts: 12,
            baseDelay: .seconds(1),
            maximumDelay: .seconds(300)
        )

        /// The maximum delay that a server can request, for example with `Retry-After`.
        public var maximumRequestedDelay = Duration.seconds(3_600)

        /// The maximum number of writes that a runner sends at the same time, at least 1.
        public var concurrency = 4

        /// The time after which an attempt is canceled.
        ///
        /// The sender's verdict on the canceled attempt applies.
        public var sendTimeout = Duration.seconds(60)

        /// The time that a lease lasts beyond ``sendTimeout``.
        ///
        /// No other runner sends a write during its lease. The margin must exceed the time that the store takes to
        /// record a lease, or the write is not sent. It must also exceed the time that a canceled sender takes to end,
        /// and the clock differences between devices that share a store.
        public var leaseMargin = Duration.seconds(15)

        /// The interval at which a runner looks for writes that other processes enqueued or abandoned.
        public var pollInterval = Duration.seconds(30)

        /// The policy for later writes of a key after a write is rejected or cannot be read.
        public var rejection = Rejection.continuesKey

        /// The clock for timeouts and for waiting.
        ///
        /// With a clock other than `ContinuousClock`, leases end by ``now``.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// The time of day.
        ///
        /// Retry delays end by it, and so do leases after a restart of the machine.
        public var now: @Sendable () -> Timestamp = Timestamp.now

        /// The source of the time since the machine started.
        ///
        /// If nil, the system's value applies if ``clock`` is a `ContinuousClock`.
        package var uptime: Uptime?

        /// Returns a random factor from 0 to 1 for a delay.
        public var jitter: @Sendable () -> Double = { Double.random(in: 0...1) }

        package var makeRunnerName: @Sendable () -> String = OutboxWrite.randomID

        /// Receives events, for logs; must return immediately.
        public var onEvent: @Sendable (OutboxEvent) -> Void = { _ in }

        /// Creates the default settings.
        public init() {}
    }
}

/// An event in the life of an outbox.
public enum OutboxEvent: Sendable {
    /// The server accepted the write.
    case accepted(OutboxWrite)
    /// An attempt failed; the next one waits for the pause, unless ``Outbox/retryNow()`` or a restored connection ends
    /// it.
    case postponed(OutboxWrite, reason: String, pause: Duration)
    /// The write was rejected.
    case rejected(OutboxWrite, reason: String)
    /// An entry cannot be read and is skipped; each runner reports it when it first finds it.
    case damaged(DamagedOutboxEntry)
    /// The store failed; the runner tries again after the pause.
    case storeFailed(StorageError, pause: Duration)
}
