internal import Synchronization

/// A fault that can begin with a delay.
protocol DelayingFault: Sendable {
    /// How long the call takes before the rest happens; nil if it does not begin with a delay.
    var initialDelay: (duration: Duration, rest: Self?)? { get }
}

extension DelayingFault {
    /// The fault without the delays that it begins with.
    var withoutDelay: Self? {
        var fault: Self? = self
        while let (_, rest) = fault?.initialDelay { fault = rest }
        return fault
    }

    /// Waits as long as the fault delays its call.
    ///
    /// - Returns: What else goes wrong with the call.
    /// - Throws: What the clock throws when the task was cancelled.
    func delay(on clock: any Clock<Duration>) async throws -> Self? {
        var fault: Self? = self
        while let (duration, rest) = fault?.initialDelay {
            try await clock.sleep(for: duration)
            fault = rest
        }
        return fault
    }
}

/// What goes wrong with the calls of a double, one after the other.
///
/// Copies share the count of calls and the position in the list.
struct CallFaults<Call, Fault: DelayingFault>: Sendable {
    private final class Counter: Sendable {
        let calls = Atomic<Int>(0)
    }

    private let clock: any Clock<Duration>
    private let fault: @Sendable (Call, _ position: Int) -> Fault?
    private let counter = Counter()

    init(_ clock: any Clock<Duration>, fault: @escaping @Sendable (Call) -> Fault?) {
        self.clock = clock
        self.fault = { call, _ in fault(call) }
    }

    init(_ clock: any Clock<Duration>, faults: [Fault?]) {
        self.clock = clock
        fault = { _, position in position < faults.count ? faults[position] : nil }
    }

    var callCount: Int { counter.calls.load(ordering: .relaxed) }

    /// Counts a call and waits as long as it is delayed.
    ///
    /// - Returns: What else goes wrong with the call.
    /// - Throws: What the clock throws when the task was cancelled.
    func begin(_ call: Call) async throws -> Fault? {
        let position = counter.calls.wrappingAdd(1, ordering: .relaxed).oldValue
        return try await fault(call, position)?.delay(on: clock)
    }
}
