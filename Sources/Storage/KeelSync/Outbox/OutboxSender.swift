/// A type that sends the writes of an outbox to a server.
///
/// A sender makes one attempt; the outbox handles retries, order and delays. The sender must pass on
/// ``OutboxDelivery/idempotencyKey``, so that the server applies a write once even if it arrives twice.
/// `HTTPOutboxSender` in `KeelRepositories` is a sender for REST services.
public protocol OutboxSender: Sendable {
    /// Sends a write once.
    ///
    /// The task is canceled when the runner ends or the attempt times out. The runner and the later writes of the key
    /// wait for the method to return. ``Outbox/Configuration/leaseMargin`` after the time limit, other runners may send
    /// the write at the same time.
    func send(_ delivery: OutboxDelivery) async -> OutboxVerdict
}

/// One attempt at sending a write.
public struct OutboxDelivery: Sendable, Hashable {
    /// The write to send.
    public let write: OutboxWrite

    /// The key that identifies the write to the server, the same in all attempts.
    public let idempotencyKey: String

    /// The number of the attempt, counted from 1 across restarts, and again from 1 after ``Outbox/edit(_:_:)`` or
    /// ``Outbox/retry(_:)`` of a rejected write.
    public let attempt: Int

    /// Whether an earlier attempt with the same idempotency key may have reached the server, which may still be
    /// processing it.
    public let mayHaveArrived: Bool

    /// Creates a delivery, for tests of a sender.
    public init(
        _ write: OutboxWrite,
        idempotencyKey: String? = nil,
        attempt: Int = 1,
        mayHaveArrived: Bool = false
    ) {
        self.write = write
        self.idempotencyKey = idempotencyKey ?? write.id
        self.attempt = attempt
        self.mayHaveArrived = mayHaveArrived
    }
}

/// The result of an attempt to send a write.
///
/// Reasons appear in user interfaces and logs: exclude contents.
public enum OutboxVerdict: Sendable, Hashable {
    /// The server accepted the write; waiting receipts return the reply.
    case accepted(reply: [UInt8] = [])

    /// The server refused the write, and would refuse it again.
    case rejected(reason: String)

    /// The attempt failed for a temporary reason; `after` is the delay that the server requests, limited by
    /// ``Outbox/Configuration/maximumRequestedDelay``.
    case failed(reason: String, after: Duration? = nil)

    /// The attempt did not reach the server, and does not count.
    case unreachable(reason: String)
}
