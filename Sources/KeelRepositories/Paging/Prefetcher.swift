internal import Synchronization

/// Loads things before they are wanted, a few at a time.
///
/// ```swift
/// let prefetcher = restaurants.prefetcher()
/// prefetcher.prefetch(idsOfTheNextRows)
/// prefetcher.cancel(idsThatScrolledAway)
/// ```
///
/// A failure is nobody's concern: who wants the thing later loads it then. Everything that waits or
/// is under way ends with the prefetcher.
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
    ///   - limit: How many things are loaded at once; less than 1 counts as 1.
    ///   - load: Loads one thing, so that it is at hand later.
    public init(limit: Int = 2, load: @escaping @Sendable (Key) async throws -> Void) {
        self.limit = max(1, limit)
        self.load = load
    }

    deinit {
        for entry in state.withLock({ $0.running.values }) { entry.task.cancel() }
    }

    /// How many things wait or are being loaded.
    public var count: Int { state.withLock { $0.waiting.count + $0.running.count } }

    /// Loads things, after those that wait already; what waits or is under way is not loaded twice.
    public func prefetch(_ keys: some Sequence<Key>) {
        let keys = Array(keys)
        state.withLock { state in
            var known = Set(state.waiting).union(state.running.keys)
            for key in keys where known.insert(key).inserted { state.waiting.append(key) }
            startNext(&state)
        }
    }

    /// Gives things up, those under way included.
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

    /// Gives everything up.
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
            // Held weakly, so that the prefetcher can go while it loads, and take this with it.
            let task = Task { [weak self, load] in
                _ = try? await load(key)
                self?.finish(key, ticket)
            }
            state.running[key] = (ticket, task)
        }
    }

    private func finish(_ key: Key, _ ticket: Int) {
        state.withLock { state in
            // It may have been given up and begun anew.
            if state.running[key]?.ticket == ticket { state.running[key] = nil }
            startNext(&state)
        }
    }
}
