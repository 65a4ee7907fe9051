/// A type that tells a server what an outbox holds.
///
/// A sender makes one attempt and says what came of it; repeating, order and pauses are the
/// outbox's. It must pass ``OutboxDelivery/idempotencyKey`` on, so that the server applies a write
/// once although it arrives twice: a process can end after the server has acted and before that is
/// written down here. `HTTPOutboxSender` of the module `KeelRepositories` is one for REST services.
public protocol OutboxSender: Sendable {
    /// Sends a write once.
    ///
    /// The task is cancelled when the runner ends or the attempt takes too long.
    func send(_ delivery: OutboxDelivery) async -> OutboxVerdict
}

/// One attempt at sending a write.
public struct OutboxDelivery: Sendable, Hashable {
    /// What is to be sent.
    public let write: OutboxWrite

    /// What the server is to know the write by, the same in all attempts.
    public let idempotencyKey: String

    /// The number of the attempt, counted from 1 and over restarts.
    public let attempt: Int

    /// Creates a delivery, which tests of a sender need.
    public init(_ write: OutboxWrite, idempotencyKey: String? = nil, attempt: Int = 1) {
        self.write = write
        self.idempotencyKey = idempotencyKey ?? write.id
        self.attempt = attempt
    }
}

/// What came of an attempt to send a write.
///
/// Reasons are shown to people and written to logs: keep contents out of them.
public enum OutboxVerdict: Sendable, Hashable {
    /// The server took the write; the reply goes to whoever waits for it.
    case accepted(reply: [UInt8] = [])

    /// The server refuses the write, and would again.
    case rejected(reason: String)

    /// The attempt failed for a reason that may pass; `after` is the pause that the server asks for.
    case failed(reason: String, after: Duration? = nil)

    /// Nobody was reached, so that the attempt does not count.
    case unreachable(reason: String)
}
