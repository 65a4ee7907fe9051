#if PostgreSQL
internal import Synchronization

/// Counts the groups of commits of an adapter, and its reads that allow staleness.
final class WorkCounts: Sendable {
    struct Values {
        var groups = 0
        var failedGroups = 0
        var writes = 0
        /// The sum of the times in which groups waited for the tail.
        var tailWait = Duration.zero
        /// The reads that standbys answered, and those that they could have answered but the primary did.
        var standbyReads = 0
        var standbyFallbacks = 0
        fileprivate var longest = Window()
    }

    /// The longest wait in one minute and in the minute before.
    fileprivate struct Window {
        private static let length = Duration.seconds(60)

        private var start: ContinuousClock.Instant?
        private var current = Duration.zero
        private var last = Duration.zero

        mutating func note(_ wait: Duration, at now: ContinuousClock.Instant) {
            advance(to: now)
            current = max(current, wait)
        }

        mutating func longest(at now: ContinuousClock.Instant) -> Duration {
            advance(to: now)
            return max(current, last)
        }

        private mutating func advance(to now: ContinuousClock.Instant) {
            guard let start, now - start < Self.length else {
                let isNext = start.map { now - $0 < Self.length * 2 } ?? false
                (last, current) = (isNext ? current : .zero, .zero)
                self.start = now
                return
            }
        }
    }

    private let values = Mutex(Values())

    func countGroup(of writes: Int) {
        values.withLock { values in
            values.groups += 1
            values.writes += writes
        }
    }

    func countFailure() { values.withLock { $0.failedGroups += 1 } }

    /// Counts a read that a standby may answer.
    func countRead(isOnStandby: Bool) {
        values.withLock { values in
            if isOnStandby { values.standbyReads += 1 } else { values.standbyFallbacks += 1 }
        }
    }

    /// Adds the time in which a group waited for the tail.
    func add(_ wait: Duration) {
        values.withLock { values in
            values.tailWait += wait
            values.longest.note(wait, at: .now)
        }
    }

    /// Returns the counts, and the longest wait of the last minute or two.
    func read() -> (Values, longestWait: Duration) {
        values.withLock { ($0, $0.longest.longest(at: .now)) }
    }
}
#endif
