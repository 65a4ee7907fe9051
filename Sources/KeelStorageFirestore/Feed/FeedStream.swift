internal import KeelCore
internal import KeelHTTP
internal import KeelStorageAdapting
internal import Synchronization

/// One open stream of changes, and those who wait for what it tells.
final class FeedStream: Sendable {
    private struct State {
        var window: FeedWindow
        var isOver = false
        var users = 0
        /// Whether the reader that it was opened for has not asked yet.
        var isFresh = true
        var lastUse: Duration
        var task: Task<Void, Never>?
    }

    /// Tells the streams of a feed apart.
    let id: UInt64
    let scope: ChangeScope
    let clients: Set<String>
    let filter: ScopeFilter
    /// The epoch of the page that the stream goes on from.
    let epoch: String
    private let timeline: Timeline
    private let signal = Signal()
    private let state: Mutex<State>

    init(
        id: UInt64,
        for request: ChangeRequest,
        after cursor: ChangeCursor,
        epoch: String,
        timeline: Timeline
    ) {
        self.id = id
        scope = request.scope
        clients = request.clients
        filter = ScopeFilter(request.scope)
        self.epoch = epoch
        self.timeline = timeline
        state = Mutex(State(window: FeedWindow(start: cursor), lastUse: timeline.now))
    }

    /// Whether a reader waits, or is about to.
    var isUsed: Bool { state.withLock { $0.users > 0 || $0.isFresh } }

    /// When a reader last asked.
    var lastUse: Duration { state.withLock { $0.lastUse } }

    /// Whether nobody has asked for this long.
    func isUnused(for limit: Duration) -> Bool {
        state.withLock { $0.users == 0 && timeline.now - $0.lastUse >= limit }
    }

    // MARK: The readers' side

    /// What follows a cursor at this moment.
    func answer(after cursor: ChangeCursor, limit: Int) -> FeedWindow.Answer {
        state.withLock { state in
            let answer = state.window.answer(after: cursor, limit: limit)
            if case .nothing = answer, state.isOver { return .elsewhere }
            return answer
        }
    }

    /// Waits for what follows a cursor, until the task is cancelled.
    func next(after cursor: ChangeCursor, limit: Int) async -> FeedWindow.Answer {
        state.withLock { state in
            state.users += 1
            state.isFresh = false
        }
        defer {
            state.withLock { state in
                state.users -= 1
                state.lastUse = timeline.now
            }
        }
        while true {
            let generation = signal.generation
            let answer = answer(after: cursor, limit: limit)
            guard case .nothing = answer, !Task.isCancelled else { return answer }
            await signal.wait(since: generation)
        }
    }

    // MARK: The stream's side

    /// Starts the task that feeds the stream; ``close()`` cancels it.
    func run(_ body: @escaping @Sendable (FeedStream) async -> Void) {
        // Others read the stream when the caller has long gone.
        let task = StorageContext.withoutContext { Task { await body(self) } }
        let isOver = state.withLock { state in
            state.task = task
            return state.isOver
        }
        if isOver { task.cancel() }
    }

    /// Adds what came up to a mark; see ``FeedWindow``.
    func add(_ page: ChangePage) -> Bool {
        let fits = state.withLock { $0.window.add(page) }
        if !page.changes.isEmpty { signal.raise() }
        return fits
    }

    /// Ends the stream; who waits is sent elsewhere.
    func close() {
        state.withLock { state in
            state.isOver = true
            return state.task.take()
        }?.cancel()
        signal.raise()
    }
}
