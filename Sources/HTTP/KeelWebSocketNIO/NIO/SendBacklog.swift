#if WebSocket
import Synchronization

/// The bytes given to the event loop that the socket has not taken yet.
final class SendBacklog: Sendable {
    private let limit: Int
    private let bytes = Atomic<Int>(0)

    /// The overhead per message, which bounds the number of empty messages.
    private static let overhead = 64

    /// Creates an empty backlog; `limit` is the number of pending bytes at which senders wait.
    init(limit: Int) { self.limit = limit }

    /// Adds a message; returns whether the sender may continue without waiting.
    func enter(_ count: Int) -> Bool {
        let all = bytes.add(count + Self.overhead, ordering: .relaxed).newValue
        return all <= limit
    }

    func leave(_ count: Int) { bytes.subtract(count + Self.overhead, ordering: .relaxed) }
}
#endif
