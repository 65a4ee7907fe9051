internal import Synchronization

/// A value whose changes can be watched.
///
/// A watcher gets the current value, then the latest one after changes. Watching ends when the broadcast is released.
package final class StateBroadcast<Value: Sendable & Equatable>: Sendable {
    private struct State {
        var value: Value
        var next = 0
        var watchers: [Int: AsyncStream<Value>.Continuation] = [:]
    }

    private let state: Mutex<State>

    package init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    deinit {
        for watcher in state.withLock({ $0.watchers.values }) { watcher.finish() }
    }

    package var value: Value { state.withLock { $0.value } }

    package var isWatched: Bool { state.withLock { !$0.watchers.isEmpty } }

    /// Changes the value, and notifies the watchers unless it is equal.
    package func set(_ value: Value) { change { $0 = value } }

    /// Changes the value in place, and notifies the watchers unless it is equal.
    package func change(_ change: (inout Value) -> Void) {
        state.withLock { state in
            let before = state.watchers.isEmpty ? nil : state.value
            change(&state.value)
            guard let before, before != state.value else { return }
            // Under the lock, so that changes reach each watcher in order.
            for watcher in state.watchers.values { watcher.yield(state.value) }
        }
    }

    /// Adds a watcher; `onEnd` is called when it ends.
    package func watch(onEnd: @escaping @Sendable () -> Void = {}) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Value.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let id = state.withLock { state in
            state.next += 1
            state.watchers[state.next] = continuation
            continuation.yield(state.value)
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.watchers.removeValue(forKey: id) }
            onEnd()
        }
        return stream
    }
}
