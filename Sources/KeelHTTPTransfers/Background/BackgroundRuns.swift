#if canImport(Darwin)
import Dispatch
import HTTPTypes
import KeelHTTP
import Synchronization

/// Connects the runs of this process with the tasks of a background session.
final class BackgroundRuns: Sendable {
    /// A response, and the first bytes of its body; a download's are in the part.
    struct Answer: Sendable {
        var head: HTTPResponse
        var body: [UInt8]
    }

    typealias Outcome = Result<Answer, TransferError>

    /// The outcome of a task.
    struct End: Sendable {
        var task: BackgroundTask
        var outcome: Outcome
        /// Whether it had come before a run asked.
        var isPast = true
    }

    private struct Waiter: Sendable {
        let task: Int
        let watch: BackgroundWatch
        let end: CheckedContinuation<Outcome, Never>
    }

    private enum Run: Sendable {
        case working
        case waiting(Waiter)
    }

    private struct State {
        var runs: [String: Run] = [:]
        /// The ends of tasks that no run has waited for.
        var ends: [String: (task: Int, end: End)] = [:]
        /// The tasks that have ended in this process.
        var over: Set<Int> = []
        /// The tasks that nobody wants any more.
        var dropped: Set<Int> = []
        var whenOver: (@MainActor @Sendable () -> Void)?
        var isOver = false
    }

    private let state = Mutex(State())
    /// Held while a run takes the lock of its file, and while a file that has arrived is put in the
    /// place of the part: two owners of a lock in one process refuse each other.
    private let disk = Mutex(())

    // MARK: Runs

    /// Begins a run.
    func begin(_ key: String) throws(TransferError) {
        let isFirst = state.withLock { state in
            guard state.runs[key] == nil else { return false }
            state.runs[key] = .working
            return true
        }
        guard isFirst else { throw TransferError(.inUse) }
    }

    /// Ends a run.
    func finish(_ key: String) {
        state.withLock { $0.runs[key] = nil }
        tellIfOver()
    }

    /// Does work on the files of a download, while no other work is done on them.
    ///
    /// - Parameters:
    ///   - key: What the run is known by.
    ///   - work: Is told whether a run of this process has, or will have, the lock of the file.
    /// - Returns: What the work returns.
    /// - Throws: What the work throws.
    func onDisk<Value, Failure: Error>(
        _ key: String,
        _ work: (_ isRunning: Bool) throws(Failure) -> sending Value
    ) throws(Failure) -> Value {
        try disk.withLock { _ throws(Failure) in
            try work(state.withLock { $0.runs[key] != nil })
        }
    }

    /// Takes the end of a task that no run has waited for.
    func takeEnd(_ key: String) -> End? {
        state.withLock { $0.ends.removeValue(forKey: key)?.end }
    }

    /// Whether the end of a task has come.
    func isOver(_ task: Int) -> Bool { state.withLock { $0.over.contains(task) } }

    /// Waits for the end of a task, unless it has come already.
    func wait(
        for task: Int,
        _ key: String,
        _ watch: BackgroundWatch,
        _ end: CheckedContinuation<Outcome, Never>
    ) {
        let known = state.withLock { state in
            if let known = state.ends[key], known.task == task {
                state.ends[key] = nil
                return Outcome?.some(known.end.outcome)
            }
            state.runs[key] = .waiting(Waiter(task: task, watch: watch, end: end))
            return nil
        }
        if let known { end.resume(returning: known) }
        tellIfOver()
    }

    // MARK: Tasks

    /// Forgets a task.
    func drop(_ task: Int) { state.withLock { _ = $0.dropped.insert(task) } }

    func isDropped(_ task: Int) -> Bool { state.withLock { $0.dropped.contains(task) } }

    func watch(_ task: Int, _ key: String) -> BackgroundWatch? {
        state.withLock { state in
            guard case .waiting(let waiter) = state.runs[key], waiter.task == task else {
                return nil
            }
            return waiter.watch
        }
    }

    /// Takes the end of a task in.
    func ended(_ number: Int, _ end: End) {
        let key = end.task.key
        let waiter = state.withLock { state -> Waiter? in
            state.isOver = false
            state.over.insert(number)
            guard state.dropped.remove(number) == nil else { return nil }
            guard case .waiting(let waiter) = state.runs[key], waiter.task == number else {
                state.ends[key] = (number, end)
                return nil
            }
            state.runs[key] = .working
            return waiter
        }
        waiter?.end.resume(returning: end.outcome)
    }

    // MARK: The app

    /// Keeps what the app wants done when all events have come and the runs have made use of them.
    func whenOver(_ handler: @escaping @MainActor @Sendable () -> Void) {
        state.withLock { $0.whenOver = handler }
        tellIfOver()
    }

    /// Notes that all events have come.
    func eventsAreOver() {
        state.withLock { $0.isOver = true }
        tellIfOver()
    }

    private func tellIfOver() {
        let handler = state.withLock { state -> (@MainActor @Sendable () -> Void)? in
            let isWorking = state.runs.values.contains {
                if case .working = $0 { true } else { false }
            }
            guard state.isOver, !isWorking, let handler = state.whenOver.take() else { return nil }
            state.isOver = false
            return handler
        }
        guard let handler else { return }
        DispatchQueue.main.async { MainActor.assumeIsolated { handler() } }
    }
}
#endif
