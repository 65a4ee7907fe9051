#if WebSocket
import KeelWebSocket
import NIOCore
import Synchronization

/// The queue of messages from the event loop to the reading task.
///
/// Signals when it is full, so that the socket is not read, and when it has room again.
final class MessageMailbox: Sendable {
    typealias Reader = OneShotResult<WebSocketMessage?>

    enum End: Sendable {
        case closedByPeer(WebSocketClose)
        case closedHere
        case failed(WebSocketError)

        var outcome: Reader.Outcome {
            switch self {
            case .closedByPeer(let close) where !close.code.isOrderly:
                .failure(WebSocketError(closedBy: close))
            case .closedByPeer, .closedHere: .success(nil)
            case .failed(let error): .failure(error)
            }
        }

        var error: WebSocketError {
            switch self {
            case .closedByPeer(let close): WebSocketError(closedBy: close)
            case .closedHere: .closedHere
            case .failed(let error): error
            }
        }
    }

    enum Taken {
        case outcome(Reader.Outcome)
        /// A message whose removal gave a full mailbox room again.
        case lastStraw(WebSocketMessage)
        /// No message yet: this reader will get the result.
        case waiting(Reader)
    }

    private struct State {
        /// Releases removed elements, unlike a slice of an array.
        var messages = CircularBuffer<WebSocketMessage>()
        var bytes = 0
        var isFull = false
        var reader: Reader?
        var end: End?
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// The number of arrivals of bytes, which show that the peer is alive, and of the times that a full mailbox has got
    /// room again: until then, nothing could arrive.
    let arrivals = Atomic<Int>(0)

    /// The overhead per message, which bounds the number of empty messages.
    private static let overhead = 64

    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// Whether the socket must not be read.
    var isFull: Bool { state.withLock { $0.isFull } }

    var end: End? { state.withLock { $0.end } }

    /// Adds a message; returns whether there is room for another.
    func deliver(_ message: WebSocketMessage) -> Bool {
        state.withLock { state in
            guard state.end == nil else { return true }
            if let reader = state.reader.take(), reader.give(.success(message)) { return true }
            state.messages.append(message)
            state.bytes += message.byteCount + Self.overhead
            state.isFull = state.bytes >= capacity
            return !state.isFull
        }
    }

    /// Ends the mailbox; only the first end counts.
    ///
    /// Messages in the mailbox can still be read.
    func finish(_ end: End) {
        state.withLock { state in
            guard state.end == nil else { return }
            state.end = end
            _ = state.reader.take()?.give(end.outcome)
        }
    }

    /// Ends the mailbox at once, dropping its messages and replacing an earlier orderly end.
    func abort(_ error: WebSocketError) {
        state.withLock { state in
            if case .failed? = state.end { return }
            state.messages = CircularBuffer()
            state.bytes = 0
            state.isFull = false
            state.end = .failed(error)
            _ = state.reader.take()?.give(.failure(error))
        }
    }

    func take() -> Taken {
        state.withLock { state in
            if let message = state.messages.popFirst() {
                state.bytes -= message.byteCount + Self.overhead
                if state.isFull, state.bytes <= capacity / 2 {
                    state.isFull = false
                    arrivals.add(1, ordering: .relaxed)
                    return .lastStraw(message)
                }
                return .outcome(.success(message))
            }
            if let end = state.end { return .outcome(end.outcome) }
            if let other = state.reader, !other.isGiven {
                return .outcome(.failure(WebSocketError(.concurrentRead)))
            }
            let reader = Reader()
            state.reader = reader
            return .waiting(reader)
        }
    }
}

extension WebSocketError {
    static var closedHere: WebSocketError {
        WebSocketError(.closed, "The connection was closed locally.")
    }
}
#endif
