import Synchronization

/// A clock on which sleeping takes no time: a sleep moves the time to its deadline.
///
/// It is for sequential simulations. If several tasks sleep at once, such as a timeout and the work that it limits, use
/// ``TestClock``: here, the timeout would expire at once.
public final class ImmediateClock: Clock, Sendable {
    public typealias Instant = TestClock.Instant

    private let state = Mutex(Instant())

    /// Creates a clock at zero.
    public init() {}

    public var now: Instant { state.withLock { $0 } }

    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The time since the clock's creation.
    public var elapsed: Duration { now.offset }

    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        state.withLock { $0 = max($0, deadline) }
    }
}
