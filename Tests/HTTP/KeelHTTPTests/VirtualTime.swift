import Foundation
import KeelTestKit
import Synchronization

/// A clock and an executor in one: time advances exactly when no task has work left to do.
///
/// This holds only for tasks that inherit the executor, which excludes unstructured ones.
final class VirtualTime: Clock, TaskExecutor, Sendable {
    typealias Instant = TestClock.Instant

    private struct Sleeper {
        var deadline: Instant
        var ticket: Int
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var now = Instant()
        var jobs: [UnownedJob] = []
        var sleepers: [Sleeper] = []
        var lastTicket = 0
        var isDone = false

        mutating func takeNextSleeper() -> Sleeper? {
            let next = sleepers.indices.min {
                (sleepers[$0].deadline, sleepers[$0].ticket)
                    < (sleepers[$1].deadline, sleepers[$1].ticket)
            }
            guard let next else { return nil }
            let sleeper = sleepers.remove(at: next)
            now = max(now, sleeper.deadline)
            return sleeper
        }
    }

    private let state = Mutex(State())
    private let signal = NSCondition()

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        wake()
    }

    /// Runs an operation, and everything it starts, on one thread in virtual time; usable once.
    func run<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        Thread { self.loop() }.start()
        let result = await Task(executorPreference: self) { try await operation() }.result
        state.withLock { $0.isDone = true }
        wake()
        return try result.get()
    }

    private func wake() {
        signal.lock()
        signal.signal()
        signal.unlock()
    }

    private func loop() {
        while true {
            let (jobs, isDone) = state.withLock { state in
                defer { state.jobs.removeAll() }
                return (state.jobs, state.isDone)
            }
            for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
            if !jobs.isEmpty { continue }
            if isDone { return }
            if let sleeper = state.withLock({ $0.takeNextSleeper() }) {
                sleeper.continuation.resume(returning: true)
                continue
            }
            signal.lock()
            while state.withLock({ $0.jobs.isEmpty && $0.sleepers.isEmpty && !$0.isDone }) {
                signal.wait()
            }
            signal.unlock()
        }
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        let isDue = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    if deadline <= state.now { return true }
                    state.sleepers.append(
                        Sleeper(deadline: deadline, ticket: ticket, continuation: continuation)
                    )
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                guard let index = state.sleepers.firstIndex(where: { $0.ticket == ticket }) else {
                    return nil
                }
                return state.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume(returning: false)
        }
        guard isDue else { throw CancellationError() }
    }
}
