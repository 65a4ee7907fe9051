public import KeelCore

/// When and after what pauses a WebSocket reconnects.
public struct WebSocketReconnectPolicy: Sendable {
    /// The maximum number of consecutive attempts, and the pauses between them, drawn with full jitter.
    public var retry: RetryPolicy

    /// How long a connection must have lasted for the count of failures to start over.
    public var stableAfter: Duration

    /// Whether to reconnect after a failure.
    public var shouldReconnect: @Sendable (WebSocketError) -> Bool

    /// Creates a policy.
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
