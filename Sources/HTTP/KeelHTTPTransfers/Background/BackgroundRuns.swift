#if canImport(Darwin)
import Dispatch
import HTTPTypes
import KeelHTTP
import Synchronization

final class BackgroundRuns: Sendable {
    /// A response with the first bytes of its body; a download's body is in the part file.
    struct Response: Sendable {
        var head: HTTPResponse
        var body: [UInt8]
    }

    typealias Outcome = Result<Response, TransferError>

    struct End: Sendable {
        var task: BackgroundTask
        var outcome: Outcome
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
        var over: Set<Int> = []
        var dropped: Set<Int> = []
        var whenOver: (@MainActor @Sendable () -> Void)?
        var isOver = false
    }

    private let state = Mutex(State())
    /// Held while a run takes the lock of its file, and while a received file replaces the part: a lock refuses a
    /// second owner in the same process.
    private let disk = Mutex(())

    // MARK: Runs

    func begin(_ key: String) throws(TransferError) {
        let isFirst = state.withLock { state in
            guard state.runs[key] == nil else { return false }
            state.runs[key] = .working
            return true
        }
        guard isFirst else { throw TransferError(.inUse) }
    }

    func finish(_ key: String) {
        state.withLock { $0.runs[key] = nil }
        tellIfOver()
    }

    /// Performs exclusive work on the files of a download.
    ///
    /// The argument of `work` is whether a run of this process has or will have the lock.
    func onDisk<Value, Failure: Error>(
        _ key: String,
        _ work: (_ isRunning: Bool) throws(Failure) -> sending Value
    ) throws(Failure) -> Value {
        try disk.withLock { _ throws(Failure) in
            try work(state.withLock { $0.runs[key] != nil })
        }
    }

    func takeEnd(_ key: String) -> End? {
        state.withLock { $0.ends.removeValue(forKey: key)?.end }
    }

    func isOver(_ task: Int) -> Bool { state.withLock { $0.over.contains(task) } }

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

    func whenOver(_ handler: @escaping @MainActor @Sendable () -> Void) {
        state.withLock { $0.whenOver = handler }
        tellIfOver()
    }

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
