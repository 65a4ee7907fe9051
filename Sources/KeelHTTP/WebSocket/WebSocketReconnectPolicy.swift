public import KeelCore

/// When, and after what pauses, a lost connection is opened again.
public struct WebSocketReconnectPolicy: Sendable {
    /// How many attempts may fail in a row, and the pauses between them, drawn with full jitter.
    public var retry: RetryPolicy

    /// How long a connection must have lasted for the count of failures to start anew.
    public var stableAfter: Duration

    /// Whether a failure is worth a new connection.
    public var shouldReconnect: @Sendable (WebSocketError) -> Bool

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - retry: How many attempts may fail in a row, and the pauses between them.
    ///   - stableAfter: How long a connection must have lasted for the count to start anew.
    ///   - shouldReconnect: Whether a failure is worth a new connection.
    public init(
        retry: RetryPolicy = RetryPolicy(
            attempts: .max,
            baseDelay: .milliseconds(500),
            maximumDelay: .seconds(60)
        ),
        stableAfter: Duration = .seconds(10),
        shouldReconnect: @escaping @Sendable (WebSocketError) -> Bool = { $0.allowsReconnect }
    ) {
        self.retry = retry
        self.stableAfter = stableAfter
        self.shouldReconnect = shouldReconnect
    }
}
