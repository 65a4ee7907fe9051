internal import Synchronization

protocol DelayingFault: Sendable {
    /// The initial delay and the fault that follows it; nil if the fault does not begin with a delay.
    var initialDelay: (duration: Duration, rest: Self?)? { get }
}

extension DelayingFault {
    var withoutDelay: Self? {
        var fault: Self? = self
        while let (_, rest) = fault?.initialDelay { fault = rest }
        return fault
    }

    /// Waits for the fault's initial delays.
    ///
    /// - Returns: The fault that follows the delays.
    /// - Throws: The clock's error if the task is canceled.
    func delay(on clock: any Clock<Duration>) async throws -> Self? {
        var fault: Self? = self
        while let (duration, rest) = fault?.initialDelay {
            try await clock.sleep(for: duration)
            fault = rest
        }
        return fault
    }
}

/// The faults of a double's calls, in order.
///
/// Copies share the call count and the position in the list.
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

    /// Counts a call, waits for its delay, and returns the fault that follows; throws the error of `cancellation` if
    /// the task is canceled.
    func begin<Failure: Error>(
        _ call: Call,
        _ cancellation: (any Error) -> Failure
    ) async throws(Failure) -> Fault? {
        let position = counter.calls.wrappingAdd(1, ordering: .relaxed).oldValue
        do {
            return try await fault(call, position)?.delay(on: clock)
        } catch {
            throw cancellation(error)
        }
    }
}
