#if SQLite
internal import KeelCore
internal import KeelStorageAdapting
internal import Synchronization

/// Notifies requests that wait for changes of the commits of other connections.
///
/// One task serves all waiting requests. It checks the store after writes to its log file or, if the system does not
/// report them, in an interval.
final class CommitWatch: Sendable {
    private struct State {
        var waiterCount = 0
        var task: Task<Void, Never>?
        var events: FileEvents?
        var sequence = Int64.min
        var isClosed = false
    }

    // A writer changes the file before the commit becomes visible, by as long as the disk takes to flush it. So the
    // store is checked several times after a change.
    private static let firstPause = Duration.milliseconds(4)
    private static let lastPause = Duration.seconds(40)
    /// Pauses of at least this length end with the next write.
    private static let longPause = Duration.milliseconds(500)

    private let state = Mutex(State())
    private let writes = Signal()
    private let looks = Atomic(0)
    private let file: String?
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let commits: Signal
    private let readSequence: @Sendable () throws -> Int64

    /// Creates a watch, which is idle until a request waits.
    ///
    /// Without a `file`, the watch polls in the interval. A commit raises `commits`.
    init(
        file: String?,
        interval: Duration,
        clock: any Clock<Duration>,
        raising commits: Signal,
        readSequence: @escaping @Sendable () throws -> Int64
    ) {
        self.file = file
        self.interval = max(interval, .milliseconds(1))
        self.clock = clock
        self.commits = commits
        self.readSequence = readSequence
    }

    var wakeUpCount: Int { looks.load(ordering: .relaxed) }

    var hasEvents: Bool { state.withLock { $0.events != nil } }

    /// Starts watching for a request that has read the store up to a sequence.
    ///
    /// - Returns: Whether the store has another sequence or cannot be read. In either case, ``end()`` must follow.
    func begin(after sequence: Int64) -> Bool {
        let isAhead = state.withLock { state -> Bool in
            // The task now takes the sequence for known, but requests that wait already have not seen it.
            let isAhead = sequence > state.sequence && state.waiterCount > 0
            state.sequence = max(state.sequence, sequence)
            state.waiterCount += 1
            guard state.task == nil, !state.isClosed else { return isAhead }
            open(&state)
            let written = writes.generation
            // Without the context of this request, because the task serves all requests.
            state.task = StorageContext.withoutContext { Task { await self.run(written) } }
            return isAhead
        }
        if isAhead { commits.raise() }
        return (try? readSequence()) != sequence
    }

    func end() {
        let task = state.withLock { state -> Task<Void, Never>? in
            state.waiterCount -= 1
            return state.waiterCount == 0 ? state.task.take() : nil
        }
        task?.cancel()
    }

    /// Records a commit of which readers have been notified.
    func saw(_ sequence: Int64) {
        state.withLock { $0.sequence = max($0.sequence, sequence) }
    }

    func close() {
        let (task, events) = state.withLock { state in
            state.isClosed = true
            return (state.task.take(), state.events.take())
        }
        task?.cancel()
        _ = events
    }

    // MARK: The task

    private func run(_ start: UInt64) async {
        var written = start
        while !Task.isCancelled {
            if state.withLock({ open(&$0) }) {
                await writes.wait(since: written)
                written = await follow()
            } else {
                try? await clock.sleep(for: interval)
                look()
            }
        }
    }

    /// Checks the store until nothing has been written for a while.
    ///
    /// - Returns: The generation of the last write that was followed.
    private func follow() async -> UInt64 {
        var written = writes.generation
        var pause = Self.firstPause
        look()
        while !Task.isCancelled, pause <= Self.lastPause {
            if pause < Self.longPause {
                try? await clock.sleep(for: pause)
            } else {
                await writes.wait(since: written, upTo: pause, on: clock)
            }
            look()
            let generation = writes.generation
            pause = generation == written ? pause * 2 : Self.firstPause
            written = generation
        }
        return written
    }

    private func look() {
        guard !Task.isCancelled else { return }
        looks.add(1, ordering: .relaxed)
        guard let sequence = try? readSequence() else { return }
        let isNew = state.withLock { state in
            defer { state.sequence = sequence }
            return state.sequence != sequence
        }
        if isNew { commits.raise() }
    }

    /// Returns whether there is a subscription.
    @discardableResult
    private func open(_ state: inout State) -> Bool {
        if state.events != nil { return true }
        guard let file, !state.isClosed else { return false }
        state.events = FileEvents(of: file) { [weak self] isGone in self?.handle(isGone) }
        return state.events != nil
    }

    private func handle(_ isGone: Bool) {
        let events = state.withLock { state -> FileEvents? in
            // Without waiting requests, the next one subscribes again.
            isGone || state.waiterCount == 0 ? state.events.take() : nil
        }
        _ = events
        writes.raise()
    }
}
#endif
