#if WebSocket
import KeelHTTP
import NIOCore
import Synchronization

/// The messages between the event loop, which brings them, and the task that reads them.
///
/// It says when it is full, so that the socket is left unread, and when it has room again.
final class MessageMailbox: Sendable {
    typealias Reader = Answer<WebSocketMessage?>

    /// How the connection ended.
    enum End: Sendable {
        /// With the peer's Close frame.
        case closedByPeer(WebSocketClose)
        /// With this side's.
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

        /// What a call that comes too late is told.
        var error: WebSocketError {
            switch self {
            case .closedByPeer(let close): WebSocketError(closedBy: close)
            case .closedHere: .closedHere
            case .failed(let error): error
            }
        }
    }

    /// What a reader finds.
    enum Taken {
        case outcome(Reader.Outcome)
        /// A message, and the mailbox has room again since it was taken.
        case lastStraw(WebSocketMessage)
        /// Nothing: the result will be given to the reader.
        case nothing
    }

    private struct State {
        /// A buffer that forgets what is taken out of it: a slice of an array would not.
        var messages = CircularBuffer<WebSocketMessage>()
        var bytes = 0
        var isFull = false
        var reader: Reader?
        var end: End?
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// Counts the arrivals of bytes: the peer's signs of life.
    let arrivals = Atomic<Int>(0)

    /// What a message takes besides its bytes, so that empty ones do not pile up without end.
    private static let overhead = 64

    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// Whether the socket is to be left unread.
    var isFull: Bool { state.withLock { $0.isFull } }

    /// How the connection ended; nil while it has not.
    var end: End? { state.withLock { $0.end } }

    /// Takes a message in; returns whether there is room for another.
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

    /// Ends the mailbox.
    ///
    /// Messages that are in it can still be read. Only the first end counts.
    func finish(_ end: End) {
        state.withLock { state in
            guard state.end == nil else { return }
            state.end = end
            _ = state.reader.take()?.give(end.outcome)
        }
    }

    /// Ends the mailbox at once: what is in it is dropped, and any earlier end replaced.
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

    /// Takes the next message out, or leaves `reader` waiting for it.
    func take(_ reader: Reader) -> Taken {
        state.withLock { state in
            if let message = state.messages.popFirst() {
                state.bytes -= message.byteCount + Self.overhead
                if state.isFull, state.bytes <= capacity / 2 {
                    state.isFull = false
                    return .lastStraw(message)
                }
                return .outcome(.success(message))
            }
            if let end = state.end { return .outcome(end.outcome) }
            if let other = state.reader, !other.isGiven {
                return .outcome(.failure(WebSocketError(.concurrentRead)))
            }
            state.reader = reader
            return .nothing
        }
    }
}

extension WebSocketError {
    static var closedHere: WebSocketError {
        WebSocketError(.closed, "The connection was closed by this side.")
    }
}
#endif
