import Synchronization

/// A timer that cancels operations at their deadlines, with one sleeping task for any number of operations.
///
/// A deadline costs a heap entry and a child task of the caller, or only the heap entry with ``watch(until:_:)``. The
/// sleeping task exists only while a deadline is pending. In a timer that lingers, it sleeps on until the deadline that
/// it knew, so that consecutive calls with a limit of a minute start one sleep per minute.
package final class DeadlineTimer: Sendable {
    private struct State {
        var heap = DeadlineHeap()
        var sleeper: Task<Void, Never>?
        var sleepsUntil: Duration?
        /// The number that identifies the current sleeper among replaced ones.
        var generation = 0
    }

    private let timeline: Timeline
    private let lingers: Bool
    private let state = Mutex(State())

    private static let continuous = DeadlineTimer(ContinuousClock(), lingers: true)

    /// Creates a timer; if it lingers, the sleeping task may outlive the last operation.
    package init(_ clock: any Clock<Duration>, lingers: Bool = false) {
        timeline = Timeline(clock)
        self.lingers = lingers
    }

    deinit {
        state.withLock { $0.sleeper }?.cancel()
    }

    /// Returns a timer for a clock: a shared one for the continuous clock, a new one for others.
    package static func on(_ clock: any Clock<Duration>) -> DeadlineTimer {
        clock is ContinuousClock ? continuous : DeadlineTimer(clock)
    }

    package var now: Duration { timeline.now }

    package var count: Int { state.withLock { $0.heap.count } }

    /// Runs `operation` and cancels it when the timer's time reaches `end`; returns its result, and whether its
    /// deadline came first.
    ///
    /// The method returns only after `operation` has ended, even if it ignores cancellation.
    package func run<Value: Sendable>(
        until end: Duration,
        _ operation: @escaping @Sendable () async -> Value
    ) async -> (value: Value, wasReached: Bool) {
        let entry = DeadlineEntry(end)
        async let value = guarded(entry, operation)
        return (await value, entry.wasReached)
    }

    /// Calls `expire` when the timer's time reaches `end`, unless ``end(_:)`` is called first with the returned entry.
    ///
    /// It serves operations that can be ended without canceling their task, because it needs no child task.
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

    /// Runs an operation in the child task, which is the one to cancel.
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

    /// Ensures that a task sleeps until the first deadline, or that none sleeps without one; returns the sleeper that
    /// is no longer needed.
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
            // If the clock's sleep has ended, the time has come, whatever the clock shows.
            let due = state.heap.removeAll(until: max(end, timeline.now))
            _ = arm(&state)
            return due
        }
        // Outside of the lock, because canceling runs the cancellation handlers of the operations.
        for entry in due { entry.expire() }
    }
}

/// An operation with a deadline.
///
/// `@unchecked` because of `isWaiting`, which only the heap uses, under the timer's lock.
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

    /// Releases the operation; its task is not used after this.
    func release() { _ = state.withLock { $0.work.take() } }

    func expire() {
        let expired = state.withLock { state -> (@Sendable () -> Void)? in
            guard let work = state.work else { return nil }
            state.wasReached = true
            switch work {
            case .watched(let expire): return expire
            case .task(let task):
                // Canceled under the lock, because the task exists until it has been released.
                task.handle.cancel()
                return nil
            }
        }
        expired?()
    }
}

/// `@unchecked` because only `cancel()` of its handle is used, which any task may call while the task exists: until it
/// has taken the handle back under the entry's lock.
private struct DeadlineTask: @unchecked Sendable {
    let handle: UnsafeCurrentTask
}

/// A binary heap of deadlines, nearly all of which are removed before they come: removed entries stay until there are
/// as many of them as of the others.
struct DeadlineHeap {
    private var entries: [DeadlineEntry] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

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
