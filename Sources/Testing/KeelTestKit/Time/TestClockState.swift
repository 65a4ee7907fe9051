/// The sleepers of a test clock and the tasks that wait for sleepers.
struct TestClockState {
    struct Sleeper {
        let ticket: UInt64
        let deadline: TestClock.Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    /// The first step of a sleeping task.
    enum Turn {
        case cancelled
        case due
        /// The task sleeps, and these watchers resume.
        case sleeps([CheckedContinuation<Void, Never>])
    }

    var now = TestClock.Instant()
    /// In the order in which they fell asleep.
    var sleepers: [Sleeper] = []
    var watchers: [UInt64: (count: Int, continuation: CheckedContinuation<Void, Never>)] = [:]
    private var lastTicket: UInt64 = 0

    mutating func makeTicket() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }

    mutating func removeSleeper(_ ticket: UInt64) -> Sleeper? {
        guard let index = sleepers.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        return sleepers.remove(at: index)
    }

    /// Removes the sleeper with the next deadline and moves the time there.
    mutating func takeNext(upTo limit: TestClock.Instant?) -> Sleeper? {
        guard let deadline = sleepers.map(\.deadline).min(), limit.map({ deadline <= $0 }) ?? true,
            let index = sleepers.firstIndex(where: { $0.deadline == deadline })
        else { return nil }
        now = max(now, deadline)
        return sleepers.remove(at: index)
    }

    mutating func takeSatisfiedWatchers() -> [CheckedContinuation<Void, Never>] {
        let satisfied = watchers.filter { $0.value.count <= sleepers.count }
        for ticket in satisfied.keys { watchers[ticket] = nil }
        return satisfied.values.map(\.continuation)
    }
}
