import Synchronization

/// Cancels work that is not done by its deadline, with one sleeping task for any number of works.
///
/// A limit costs a place in a heap and a child task of the caller, or just the place where the work
/// can be ended otherwise: ``watch(until:_:)``. The sleeping task exists only while there is a
/// deadline to wait for. On clocks of the system it is not ended with the last work: it sleeps on to
/// the deadline that it knew, so that a row of calls, each with a limit of a minute, starts one sleep
/// a minute and not one each. It ends with the timer at the latest.
package final class DeadlineTimer: Sendable {
    private struct State {
        var heap = DeadlineHeap()
        var sleeper: Task<Void, Never>?
        var sleepsUntil: Duration?
        /// Tells the sleeper that counts from those that were replaced.
        var generation = 0
    }

    private let timeline: Timeline
    private let lingers: Bool
    private let state = Mutex(State())

    /// The timer of all who measure on the system's continuous clock.
    private static let continuous = DeadlineTimer(ContinuousClock(), lingers: true)

    /// Creates a timer.
    ///
    /// - Parameters:
    ///   - clock: The clock that deadlines are measured on.
    ///   - lingers: Whether the sleeping task may outlast the last work.
    package init(_ clock: any Clock<Duration>, lingers: Bool = false) {
        timeline = Timeline(clock)
        self.lingers = lingers
    }

    deinit {
        state.withLock { $0.sleeper }?.cancel()
    }

    /// A timer for this clock: one for all on the continuous clock, a new one on others.
    package static func on(_ clock: any Clock<Duration>) -> DeadlineTimer {
        clock is ContinuousClock ? continuous : DeadlineTimer(clock)
    }

    /// How much time has passed since the timer was made.
    package var now: Duration { timeline.now }

    /// How many works are under way.
    package var count: Int { state.withLock { $0.heap.count } }

    /// Runs `operation` and cancels it once the timer's time is `end`.
    ///
    /// It returns only after `operation` has ended; one that ignores cancellation is waited for.
    ///
    /// - Returns: What the operation returned, and whether its deadline came before that.
    package func run<Value: Sendable>(
        until end: Duration,
        _ operation: @escaping @Sendable () async -> Value
    ) async -> (value: Value, wasReached: Bool) {
        let entry = DeadlineEntry(end)
        async let value = guarded(entry, operation)
        return (await value, entry.wasReached)
    }

    /// Calls `expire` once the timer's time is `end`, unless ``end(_:)`` comes first.
    ///
    /// For work that can be ended without cancelling its task: it needs no child task then.
    ///
    /// - Returns: What to give to ``end(_:)``.
    @discardableResult
    package func watch(
        until end: Duration,
        _ expire: @escaping @Sendable () -> Void
    ) -> DeadlineEntry {
        let entry = DeadlineEntry(end)
        entry.begin(expire)
        schedule(entry)
        return entry
    }

    /// Ends a watch; if its deadline has just come, `expire` may still be running.
    package func end(_ entry: DeadlineEntry) {
        entry.release()
        unschedule(entry)
    }

    /// Runs in the child task, which is the one to cancel.
    private func guarded<Value: Sendable>(
        _ entry: DeadlineEntry,
        _ operation: @Sendable () async -> Value
    ) async -> Value {
        withUnsafeCurrentTask { entry.begin($0) }
        schedule(entry)
        let value = await operation()
        end(entry)
        return value
    }

    private func schedule(_ entry: DeadlineEntry) {
        let replaced = state.withLock { state -> Task<Void, Never>? in
            state.heap.insert(entry)
            if let end = state.sleepsUntil, end <= entry.end { return nil }
            return arm(&state)
        }
        replaced?.cancel()
    }

    private func unschedule(_ entry: DeadlineEntry) {
        let idle = state.withLock { state in
            state.heap.remove(entry)
            return state.heap.isEmpty && !lingers ? arm(&state) : nil
        }
        idle?.cancel()
    }

    /// Sees to it that somebody sleeps until the first deadline, and nobody if there is none.
    ///
    /// - Returns: The sleeper that is not needed any more.
    private func arm(_ state: inout State) -> Task<Void, Never>? {
        guard let end = state.heap.first?.end else {
            state.generation += 1
            state.sleepsUntil = nil
            return state.sleeper.take()
        }
        if let current = state.sleepsUntil, current <= end { return nil }
        let replaced = state.sleeper
        state.generation += 1
        state.sleepsUntil = end
        state.sleeper = Task { [weak self, timeline, generation = state.generation] in
            guard (try? await timeline.sleep(until: end)) != nil else { return }
            self?.wake(generation, at: end)
        }
        return replaced
    }

    private func wake(_ generation: Int, at end: Duration) {
        let due = state.withLock { state -> [DeadlineEntry] in
            guard generation == state.generation else { return [] }
            state.sleeper = nil
            state.sleepsUntil = nil
            // A clock that says the time has come is believed, whatever it shows.
            let due = state.heap.removeAll(until: max(end, timeline.now))
            _ = arm(&state)
            return due
        }
        // Outside of the lock: cancelling runs the handlers of whoever waits in the work.
        for entry in due { entry.expire() }
    }
}

/// One work under a deadline.
///
/// `@unchecked`, because of `isWaiting`, which only the heap touches, under the timer's lock.
package final class DeadlineEntry: @unchecked Sendable {
    private enum Work {
        case task(DeadlineTask)
        case watched(@Sendable () -> Void)
    }

    private struct State {
        var work: Work?
        var wasReached = false
    }

    let end: Duration
    /// Whether the deadline is still to come, and of interest.
    fileprivate var isWaiting = false
    private let state = Mutex(State())

    init(_ end: Duration) { self.end = end }

    var wasReached: Bool { state.withLock { $0.wasReached } }

    func begin(_ task: UnsafeCurrentTask?) {
        let work = task.map { Work.task(DeadlineTask(handle: $0)) }
        state.withLock { $0.work = work }
    }

    func begin(_ expire: @escaping @Sendable () -> Void) {
        state.withLock { $0.work = .watched(expire) }
    }

    /// After this the task is not touched any more.
    func release() { _ = state.withLock { $0.work.take() } }

    func expire() {
        let expired = state.withLock { state -> (@Sendable () -> Void)? in
            guard let work = state.work else { return nil }
            state.wasReached = true
            switch work {
            case .watched(let expire): return expire
            case .task(let task):
                // Under the lock: the task lives until it has been released.
                task.handle.cancel()
                return nil
            }
        }
        expired?()
    }
}

/// The task that works under a deadline.
///
/// `@unchecked`: of its handle only `cancel()` is used, which any task may call while the task
/// lives; it lives until it has taken the handle back under the entry's lock.
private struct DeadlineTask: @unchecked Sendable {
    let handle: UnsafeCurrentTask
}

/// A binary heap of deadlines, nearly all of which are taken out before they come.
///
/// What is taken out stays where it is until there is as much of it as of the rest: a call that is
/// over pays for no way through the heap.
struct DeadlineHeap {
    private var entries: [DeadlineEntry] = []
    /// How many entries wait.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The entry with the nearest deadline.
    var first: DeadlineEntry? {
        mutating get {
            while let entry = entries.first, !entry.isWaiting { removeFirst() }
            return entries.first
        }
    }

    mutating func insert(_ entry: DeadlineEntry) {
        entry.isWaiting = true
        count += 1
        entries.append(entry)
        rise(from: entries.count - 1)
    }

    mutating func remove(_ entry: DeadlineEntry) {
        guard entry.isWaiting else { return }
        entry.isWaiting = false
        count -= 1
        if entries.count > 2 * count + 32 { compact() }
    }

    mutating func removeAll(until time: Duration) -> [DeadlineEntry] {
        var due: [DeadlineEntry] = []
        while let entry = first, entry.end <= time {
            removeFirst()
            entry.isWaiting = false
            count -= 1
            due.append(entry)
        }
        return due
    }

    /// Lets go of what was taken out.
    private mutating func compact() {
        entries.removeAll { !$0.isWaiting }
        for index in (0..<entries.count / 2).reversed() { sink(from: index) }
    }

    private mutating func removeFirst() {
        let last = entries.removeLast()
        guard !entries.isEmpty else { return }
        entries[0] = last
        sink(from: 0)
    }

    private mutating func rise(from start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard entries[index].end < entries[parent].end else { return }
            entries.swapAt(index, parent)
            index = parent
        }
    }

    private mutating func sink(from start: Int) {
        var index = start
        while true {
            var smallest = index
            for child in [2 * index + 1, 2 * index + 2] where child < entries.count {
                if entries[child].end < entries[smallest].end { smallest = child }
            }
            guard smallest != index else { return }
            entries.swapAt(index, smallest)
            index = smallest
        }
    }
}
