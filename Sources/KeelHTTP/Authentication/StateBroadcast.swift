import Synchronization

/// A value that changes, and those who watch it.
///
/// A watcher gets the value at once and then the newest one whenever it has changed; one that is
/// slow misses what lay in between.
final class StateBroadcast<Value: Sendable & Equatable>: Sendable {
    private struct State {
        var value: Value
        var next = 0
        var watchers: [Int: AsyncStream<Value>.Continuation] = [:]
    }

    private let state: Mutex<State>
    private let onWatched: (@Sendable (_ isWatched: Bool) -> Void)?

    /// Creates a broadcast; `onWatched` is told when the first watcher comes and the last goes.
    init(_ value: Value, onWatched: (@Sendable (_ isWatched: Bool) -> Void)? = nil) {
        state = Mutex(State(value: value))
        self.onWatched = onWatched
    }

    var value: Value { state.withLock { $0.value } }

    /// Changes the value and tells the watchers, unless it is what it was.
    func set(_ value: Value) {
        state.withLock { state in
            guard state.value != value else { return }
            state.value = value
            // Inside the lock: two changes must reach a watcher in their order.
            for watcher in state.watchers.values { watcher.yield(value) }
        }
    }

    func watch() -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Value.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let (id, isFirst) = state.withLock { state in
            state.next += 1
            state.watchers[state.next] = continuation
            continuation.yield(state.value)
            return (state.next, state.watchers.count == 1)
        }
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        if isFirst { onWatched?(true) }
        return stream
    }

    private func remove(_ id: Int) {
        let isLast = state.withLock { state in
            state.watchers.removeValue(forKey: id) != nil && state.watchers.isEmpty
        }
        if isLast { onWatched?(false) }
    }
}
