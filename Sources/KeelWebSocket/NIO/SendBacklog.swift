#if WebSocket
import Synchronization

/// How much was given to the event loop that the socket has not taken yet.
final class SendBacklog: Sendable {
    private let limit: Int
    private let bytes = Atomic<Int>(0)

    /// What a message takes besides its bytes, so that empty ones do not pile up without end.
    private static let overhead = 64

    /// Creates an empty backlog.
    ///
    /// - Parameter limit: How many bytes may be in it while nobody waits for them.
    init(limit: Int) { self.limit = limit }

    /// Takes note of a message that is handed over; returns whether it need not be waited for.
    func enter(_ count: Int) -> Bool {
        let all = bytes.add(count + Self.overhead, ordering: .relaxed).newValue
        return all <= limit
    }

    /// Takes note of the end of a message that was handed over.
    func leave(_ count: Int) { bytes.subtract(count + Self.overhead, ordering: .relaxed) }
}
#endif
