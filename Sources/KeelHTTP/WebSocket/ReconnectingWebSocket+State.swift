extension ReconnectingWebSocket {
    /// Where a reconnecting WebSocket stands.
    public enum State: Sendable {
        /// ``ReconnectingWebSocket/run(_:)`` has not been called yet.
        case idle
        /// A connection is being opened; attempts count from 1 and start anew after a success.
        case connecting(attempt: Int)
        /// The connection is open.
        case connected(WebSocketHandshake)
        /// The connection was lost, or was not opened; the next attempt follows after a pause.
        case waiting(Duration, after: WebSocketError)
        /// ``ReconnectingWebSocket/run(_:)`` has returned, with the error it threw if it is one of
        /// the connection.
        case ended(WebSocketError?)
    }
}

/// A state that several observers follow.
struct ObservedState<State: Sendable>: Sendable {
    private(set) var current: State
    private var observers: [Int: AsyncStream<State>.Continuation] = [:]
    private var lastObserver = 0

    init(_ state: State) { current = state }

    mutating func add(_ observer: AsyncStream<State>.Continuation) -> Int {
        lastObserver += 1
        observers[lastObserver] = observer
        observer.yield(current)
        return lastObserver
    }

    mutating func remove(_ observer: Int) { observers[observer] = nil }

    mutating func change(to state: State) {
        current = state
        for observer in observers.values { observer.yield(state) }
    }

    mutating func finish() -> [AsyncStream<State>.Continuation] {
        defer { observers = [:] }
        return Array(observers.values)
    }
}
