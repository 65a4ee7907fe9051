import KeelCache
import Synchronization

/// Revalidations that continue after the caller has its reply, one per stored response.
///
/// A revalidation that exceeds its timeout is canceled: silent origins would otherwise occupy all
/// slots forever. Each runs in its own task; the owner cancels them all with ``cancelAll()``.
final class BackgroundRevalidations: Sendable {
    private struct State: Sendable {
        var tasks: [ValidationFlight.Subject: (number: UInt64, task: Task<Void, Never>)] = [:]
        /// The number of the revalidation started last; a canceled one may end after its successor has begun.
        var last: UInt64 = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let limit: Int
    private let timeout: Duration
    private let clock: CacheClock
    private let state = Mutex(State())

    init(limit: Int, timeout: Duration, clock: CacheClock) {
        self.limit = limit
        self.timeout = timeout
        self.clock = clock
    }

    var count: Int { state.withLock { $0.tasks.count } }

    /// Starts a revalidation, unless one of the same response runs or the limit is reached.
    ///
    /// - Returns: Whether it was started.
    func start(
        _ subject: ValidationFlight.Subject,
        _ operation: @escaping @Sendable () async -> Void
    ) -> Bool {
        state.withLock { state in
            guard state.tasks[subject] == nil, state.tasks.count < limit else { return false }
            state.last += 1
            let number = state.last
            let task = Task { [weak self, timeout, clock] in
                await Self.run(operation, within: timeout, clock)
                self?.end(subject, number)
            }
            state.tasks[subject] = (number, task)
            return true
        }
    }

    private static func run(
        _ operation: @escaping @Sendable () async -> Void,
        within timeout: Duration,
        _ clock: CacheClock
    ) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await operation() }
            group.addTask { try? await clock.sleep(for: timeout) }
            _ = await group.next()
            group.cancelAll()
        }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.tasks.isEmpty { return true }
                state.waiting.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
    }

    func cancelAll() {
        let (tasks, waiting) = state.withLock { state in
            defer { (state.tasks, state.waiting) = ([:], []) }
            return (state.tasks.values.map(\.task), state.waiting)
        }
        for task in tasks { task.cancel() }
        for continuation in waiting { continuation.resume() }
    }

    private func end(_ subject: ValidationFlight.Subject, _ number: UInt64) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard state.tasks[subject]?.number == number else { return [] }
            state.tasks[subject] = nil
            guard state.tasks.isEmpty else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
