public import KeelCore
public import KeelStorage

extension Outbox {
    /// What becomes of the later writes of a key when one is rejected, or cannot be read.
    public enum Rejection: Sendable, Hashable {
        /// They are sent: good for writes that each say what is to be, such as `PUT`.
        case letsOthersPass
        /// They wait until the rejected one is sent again or dropped, or the damaged one can be read
        /// or is dropped. A damaged one whose key cannot be read holds all keys: any may be its own.
        case holdsKey
    }

    /// The settings of an outbox.
    public struct Configuration: Sendable {
        /// How often and how patiently a write is tried.
        ///
        /// Attempts that reached nobody do not count, but their pauses grow likewise. The total
        /// limit counts from when the write was put into the outbox.
        public var retry = RetryPolicy(
            attempts: 12,
            baseDelay: .seconds(1),
            maximumDelay: .seconds(300)
        )

        /// How many writes may be sent at once.
        public var concurrency = 4

        /// How long one attempt may take before it is cancelled and counts as failed.
        public var sendTimeout = Duration.seconds(60)

        /// How much longer than an attempt a claim holds.
        ///
        /// Nobody else sends a write while it is claimed. After a process was killed in an attempt,
        /// its writes are sent again once the claim is over. It has to cover the time that the store
        /// takes to claim a write, which is not sent otherwise, and what the clocks of devices on one
        /// store differ by.
        public var leaseMargin = Duration.seconds(15)

        /// How often a runner looks for what other processes have put in, or left behind.
        public var pollInterval = Duration.seconds(30)

        /// What becomes of the later writes of a key when one is rejected, or cannot be read.
        public var rejection = Rejection.letsOthersPass

        /// The clock that pauses are measured on.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// The time of day, by which pauses outlast a restart of the process, and claims one of the
        /// machine.
        public var now: @Sendable () -> Timestamp = Timestamp.now

        /// The machine's own time, by which claims outlast a process; nil for the system's, if pauses
        /// are measured on its clock.
        package var uptime: Uptime?

        /// Draws where in its range a pause ends, from 0 to 1.
        public var jitter: @Sendable () -> Double = { Double.random(in: 0...1) }

        /// Makes the name of a runner; it must not give the same one twice.
        public var makeOwner: @Sendable () -> String = OutboxWrite.randomID

        /// Told what happens to writes, for logs; it must return at once.
        public var onEvent: @Sendable (OutboxEvent) -> Void = { _ in }

        /// Creates the usual settings.
        public init() {}
    }
}

/// Something that happened to a write in an outbox.
public enum OutboxEvent: Sendable {
    /// The server took it.
    case accepted(OutboxWrite)
    /// An attempt failed; the next comes after the pause at the earliest.
    case postponed(OutboxWrite, reason: String, pause: Duration)
    /// It was rejected.
    case rejected(OutboxWrite, reason: String)
    /// It cannot be read and is passed over; told once by each runner.
    case damaged(DamagedOutboxEntry)
    /// The store failed; the runner tries again after the pause.
    case storeFailed(StorageError, pause: Duration)
}
