import Synchronization

/// A clock on which sleeping takes no time: whoever sleeps moves the time to the end of the sleep.
///
/// For simulations in which one thing happens at a time: a hundred thousand calls with pauses of
/// minutes take as long as their computing. Where several tasks sleep at once, a limit beside the
/// work it limits for instance, use ``TestClock``: here the limit would pass at once.
public final class LeapingClock: Clock, Sendable {
    public typealias Instant = TestClock.Instant

    private let state = Mutex(Instant())

    /// Creates a clock at zero.
    public init() {}

    public var now: Instant { state.withLock { $0 } }

    public var minimumResolution: Duration { .nanoseconds(1) }

    /// How much time has passed since the clock was created.
    public var elapsed: Duration { now.offset }

    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        state.withLock { $0 = max($0, deadline) }
    }
}
