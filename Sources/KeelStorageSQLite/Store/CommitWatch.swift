#if SQLite
internal import KeelCore
internal import KeelStorageAdapting
internal import Synchronization

/// Tells those who wait for changes of the commits of other connections.
///
/// Every commit writes to the store's log file, which the system tells of; nothing runs meanwhile. Where it
/// tells nothing, because it has no such events or no room for one more, the store is looked at at intervals.
/// One task does it for all who wait.
final class CommitWatch: Sendable {
    private struct State {
        var waiterCount = 0
        var task: Task<Void, Never>?
        var events: FileEvents?
        /// The last sequence of the store that somebody has seen.
        var sequence = Int64.min
        var isClosed = false
    }

    // A writer changes the file before others see the commit, by as long as the disk takes. So the store is
    // looked at several times after a change.
    private static let firstPause = Duration.milliseconds(4)
    private static let lastPause = Duration.seconds(1)

    private let state = Mutex(State())
    private let writes = Signal()
    private let looks = Atomic(0)
    /// The file that every commit writes to; nil if its events are not wanted.
    private let file: String?
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let commits: Signal
    private let readSequence: @Sendable () throws -> Int64

    /// Creates a watch, which does nothing until somebody waits.
    ///
    /// - Parameters:
    ///   - file: The file that every commit writes to; nil to look at intervals.
    ///   - interval: How often the store is looked at where the system tells nothing.
    ///   - clock: The clock that pauses are measured on.
    ///   - commits: Raised when there was a commit.
    ///   - readSequence: Reads the sequence of the store's last change.
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

    /// How often the task has woken up.
    var wakeUpCount: Int { looks.load(ordering: .relaxed) }

    /// Whether the system tells of writes, to somebody who waits.
    var hasEvents: Bool { state.withLock { $0.events != nil } }

    /// Begins to watch for somebody who has read the store up to a sequence.
    ///
    /// - Returns: Whether the store has come further already. In any case, ``end()`` follows.
    func begin(after sequence: Int64) -> Bool {
        state.withLock { state in
            state.sequence = max(state.sequence, sequence)
            state.waiterCount += 1
            guard state.task == nil, !state.isClosed else { return }
            open(&state)
            let written = writes.generation
            // For all who wait, now and later.
            state.task = StorageContext.withoutContext { Task { await self.run(written) } }
        }
        return (try? readSequence()) != sequence
    }

    /// Ends the watching for somebody.
    func end() {
        let task = state.withLock { state -> Task<Void, Never>? in
            state.waiterCount -= 1
            return state.waiterCount == 0 ? state.task.take() : nil
        }
        task?.cancel()
    }

    /// Notes that the store has come to a sequence which its readers have been told of.
    func saw(_ sequence: Int64) {
        state.withLock { $0.sequence = max($0.sequence, sequence) }
    }

    /// Ends all watching.
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

    /// Looks at the store until nothing has been written for a while.
    ///
    /// - Returns: The writes that this has followed.
    private func follow() async -> UInt64 {
        var written = writes.generation
        var pause = Self.firstPause
        look()
        while !Task.isCancelled, pause <= Self.lastPause {
            try? await clock.sleep(for: pause)
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

    /// Sees to it that the system tells of writes.
    ///
    /// - Returns: Whether it does.
    @discardableResult
    private func open(_ state: inout State) -> Bool {
        if state.events != nil { return true }
        guard let file, !state.isClosed else { return false }
        state.events = FileEvents(of: file) { [weak self] isGone in self?.handle(isGone) }
        return state.events != nil
    }

    private func handle(_ isGone: Bool) {
        let events = state.withLock { state -> FileEvents? in
            // Where nobody waits, the next one begins anew.
            isGone || state.waiterCount == 0 ? state.events.take() : nil
        }
        _ = events
        writes.raise()
    }
}
#endif
