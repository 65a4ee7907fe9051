#if PostgreSQL
internal import Synchronization

final class WorkCounts: Sendable {
    struct Values {
        var groups = 0
        var failedGroups = 0
        var writes = 0
        var tailWait = Duration.zero
        /// The reads that standbys answered, and those that were left to the primary.
        var standbyReads = 0
        var standbyFallbacks = 0
        fileprivate var longest = Window()
    }

    /// The longest wait in the present minute, and in the one before.
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

    func countRead(isOnStandby: Bool) {
        values.withLock { values in
            if isOnStandby { values.standbyReads += 1 } else { values.standbyFallbacks += 1 }
        }
    }

    func add(_ wait: Duration) {
        values.withLock { values in
            values.tailWait += wait
            values.longest.note(wait, at: .now)
        }
    }

    func read() -> (Values, longestWait: Duration) {
        values.withLock { ($0, $0.longest.longest(at: .now)) }
    }
}
#endif
