internal import Synchronization

/// A clock that stands still until a test moves it.
///
/// Time passes only through ``advance(by:)`` and ``run()``, so that a test of an hour's pause takes no time:
///
/// ```swift
/// let clock = TestClock()
/// let storage = InMemoryStorageAdapter().retrying(.attempts(3), clock: clock)
/// async let note = StorageClient(storage).getDocument("notes/1")
/// await clock.waitForSleepers()
/// await clock.advance(by: .seconds(1))
/// ```
///
/// Sleepers wake in the order of their deadlines, and sleepers with equal deadlines in the order in which they fell
/// asleep. Canceling a sleeping task wakes it at once, with a `CancellationError`.
public final class TestClock: Clock, Sendable {
    /// A point in time, measured from the clock's creation.
    public struct Instant: InstantProtocol {
        /// The time from the clock's creation to this instant.
        public let offset: Duration

        /// Creates a point in time.
        public init(offset: Duration = .zero) { self.offset = offset }

        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        public func duration(to other: Instant) -> Duration { other.offset - offset }

        public static func < (left: Self, right: Self) -> Bool { left.offset < right.offset }
    }

    private let state = Mutex(TestClockState())

    /// Creates a clock at zero.
    public init() {}

    public var now: Instant { state.withLock { $0.now } }

    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The time since the clock's creation.
    public var elapsed: Duration { now.offset }

    /// The number of tasks that sleep on this clock.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let ticket = state.withLock { $0.makeTicket() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let turn = state.withLock { state -> TestClockState.Turn in
                    if Task.isCancelled { return .cancelled }
                    if deadline <= state.now { return .due }
                    state.sleepers.append(
                        .init(ticket: ticket, deadline: deadline, continuation: continuation)
                    )
                    return .sleeps(state.takeSatisfiedWatchers())
                }
                switch turn {
                case .cancelled: continuation.resume(throwing: CancellationError())
                case .due: continuation.resume()
                case .sleeps(let watchers): for watcher in watchers { watcher.resume() }
                }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.removeSleeper(ticket) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    // MARK: Moving time

    /// Moves the time on and wakes the sleepers whose deadlines pass.
    ///
    /// The time stops at each deadline on the way, and the woken tasks get a chance to sleep again, so that a loop with
    /// a pause of one second usually runs three times in three seconds. A task that takes more than a few steps in
    /// between may be late: call ``waitForSleepers(_:)`` between smaller steps, or use ``run(_:)``.
    public func advance(by duration: Duration) async {
        let target = now.advanced(by: duration)
        await giveWay()
        while wakeNext(upTo: target) { await giveWay() }
        state.withLock { $0.now = max($0.now, target) }
        await giveWay()
    }

    /// Waits until at least this many tasks sleep, and moves the time on.
    package func advance(by duration: Duration, onceAsleep count: Int) async {
        await waitForSleepers(count)
        await advance(by: duration)
    }

    /// Moves the time on until no task sleeps, or the calling task is canceled.
    ///
    /// A task that sleeps in an endless loop keeps this call from returning.
    public func run() async {
        await giveWay()
        while !Task.isCancelled, wakeNext() { await giveWay() }
    }

    /// Runs an operation and moves the time on whenever it sleeps, until it returns.
    ///
    /// However long the operation takes between two pauses, the clock waits for the next one.
    ///
    /// - Throws: The error of the operation.
    public func run<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                while !Task.isCancelled {
                    await self.waitForSleepers()
                    await self.giveWay()
                    // A canceled wait returns as well, and the time must then stand still.
                    if !Task.isCancelled { _ = self.wakeNext() }
                }
                return nil
            }
            defer { group.cancelAll() }
            while let value = try await group.next() {
                if let value { return value }
            }
            throw CancellationError()
        }
    }

    /// Waits until at least this many tasks sleep on the clock, or until the calling task is canceled.
    public func waitForSleepers(_ count: Int = 1) async {
        let ticket = state.withLock { $0.makeTicket() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    if Task.isCancelled || state.sleepers.count >= count { return true }
                    state.watchers[ticket] = (count, continuation)
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.watchers.removeValue(forKey: ticket) }?.continuation.resume()
        }
    }

    /// Moves the time to the next deadline and wakes its sleeper, without yielding to other tasks.
    ///
    /// - Parameter limit: The latest time to move to; nil is unlimited.
    /// - Returns: Whether a sleeper was woken.
    package func wakeNext(upTo limit: Instant? = nil) -> Bool {
        guard let sleeper = state.withLock({ $0.takeNext(upTo: limit) }) else { return false }
        sleeper.continuation.resume()
        return true
    }

    private func giveWay() async {
        for _ in 0..<20 { await Task.yield() }
    }
}
