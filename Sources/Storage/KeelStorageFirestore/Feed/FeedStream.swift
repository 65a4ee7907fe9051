internal import KeelCore
internal import KeelHTTP
internal import KeelStorageAdapting
internal import Synchronization

/// An open stream of changes, which its readers share.
final class FeedStream: Sendable {
    private struct State {
        var window: FeedWindow
        var isOver = false
        var users = 0
        /// Whether the reader for which the stream was opened has not used it yet.
        var isFresh = true
        var lastUse: Duration
        var task: Task<Void, Never>?
    }

    let id: UInt64
    let scope: ChangeScope
    let clients: Set<String>
    let filter: ScopeFilter
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

    var isUsed: Bool { state.withLock { $0.users > 0 || $0.isFresh } }

    var lastUse: Duration { state.withLock { $0.lastUse } }

    func isUnused(for limit: Duration) -> Bool {
        state.withLock { $0.users == 0 && timeline.now - $0.lastUse >= limit }
    }

    // MARK: Readers

    func answer(after cursor: ChangeCursor, limit: Int) -> FeedWindow.Answer {
        state.withLock { state in
            let answer = state.window.answer(after: cursor, limit: limit)
            if case .nothing = answer, state.isOver { return .elsewhere }
            return answer
        }
    }

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

    // MARK: Stream

    /// ``close()`` cancels the task.
    func run(_ body: @escaping @Sendable (FeedStream) async -> Void) {
        // The stream outlives the caller, so the task must not inherit its context.
        let task = StorageContext.withoutContext { Task { await body(self) } }
        let isOver = state.withLock { state in
            state.task = task
            return state.isOver
        }
        if isOver { task.cancel() }
    }

    func add(_ page: ChangePage) -> Bool {
        let fits = state.withLock { $0.window.add(page) }
        if !page.changes.isEmpty { signal.raise() }
        return fits
    }

    /// Ends the stream; waiting readers continue elsewhere.
    func close() {
        state.withLock { state in
            state.isOver = true
            return state.task.take()
        }?.cancel()
        signal.raise()
    }
}
