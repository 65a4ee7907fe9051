extension ReconnectingWebSocket {
    /// The state of a reconnecting WebSocket.
    public enum State: Sendable {
        /// ``ReconnectingWebSocket/run(_:)`` has not been called yet.
        case idle
        /// A connection is being opened; attempts count from 1 and start over after a connection that has lasted
        /// ``WebSocketReconnectPolicy/stableAfter``.
        case connecting(attempt: Int)
        /// The connection is open.
        case connected(WebSocketHandshake)
        /// The connection was lost or could not be opened; the next attempt follows after a pause.
        case waiting(Duration, after: WebSocketError)
        /// ``ReconnectingWebSocket/run(_:)`` has ended, with its error if that is a ``WebSocketError``.
        case ended(WebSocketError?)
    }
}

/// A state with any number of observers.
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
