internal import Synchronization

/// Loads values in advance, a few at a time.
///
/// ```swift
/// let prefetcher = restaurants.prefetcher()
/// prefetcher.prefetch(idsOfTheNextRows)
/// prefetcher.cancel(idsThatScrolledAway)
/// ```
///
/// Failures are ignored: the value is loaded on demand. Loads are canceled with the prefetcher.
public final class Prefetcher<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var waiting: [Key] = []
        var running: [Key: (ticket: Int, task: Task<Void, Never>)] = [:]
        var lastTicket = 0
    }

    private let limit: Int
    private let load: @Sendable (Key) async throws -> Void
    private let state = Mutex(State())

    /// Creates a prefetcher.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of concurrent loads, at least 1.
    ///   - load: Loads and keeps one value.
    public init(limit: Int = 2, load: @escaping @Sendable (Key) async throws -> Void) {
        self.limit = max(1, limit)
        self.load = load
    }

    deinit {
        for entry in state.withLock({ $0.running.values }) { entry.task.cancel() }
    }

    /// The number of waiting and running loads.
    public var count: Int { state.withLock { $0.waiting.count + $0.running.count } }

    /// Enqueues loads, except for those already waiting or running.
    public func prefetch(_ keys: some Sequence<Key>) {
        let keys = Array(keys)
        state.withLock { state in
            var known = Set(state.waiting).union(state.running.keys)
            for key in keys where known.insert(key).inserted { state.waiting.append(key) }
            startNext(&state)
        }
    }

    /// Cancels loads, including running ones.
    public func cancel(_ keys: some Sequence<Key>) {
        let keys = Set(keys)
        let tasks = state.withLock { state in
            state.waiting.removeAll { keys.contains($0) }
            let tasks = keys.compactMap { state.running.removeValue(forKey: $0)?.task }
            startNext(&state)
            return tasks
        }
        for task in tasks { task.cancel() }
    }

    /// Cancels all loads.
    public func cancelAll() {
        let tasks = state.withLock { state in
            state.waiting = []
            defer { state.running = [:] }
            return state.running.values.map(\.task)
        }
        for task in tasks { task.cancel() }
    }

    private func startNext(_ state: inout State) {
        while state.running.count < limit, !state.waiting.isEmpty {
            let key = state.waiting.removeFirst()
            state.lastTicket += 1
            let ticket = state.lastTicket
            // Weak, so that the prefetcher can be released while loading, which cancels the task.
            let task = Task { [weak self, load] in
                _ = try? await load(key)
                self?.finish(key, ticket)
            }
            state.running[key] = (ticket, task)
        }
    }

    private func finish(_ key: Key, _ ticket: Int) {
        state.withLock { state in
            // The load may have been canceled and restarted.
            if state.running[key]?.ticket == ticket { state.running[key] = nil }
            startNext(&state)
        }
    }
}
