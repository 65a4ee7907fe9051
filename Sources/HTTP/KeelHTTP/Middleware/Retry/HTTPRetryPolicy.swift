import KeelCore

/// The rules for which calls a client retries, how often and after which pauses.
///
/// A call is retried only if its body can be sent again (``HTTPBody/isReplayable``), and repeating it is known to be
/// harmless: it is idempotent (``HTTPCall/isIdempotent``), or it had no effect, because ``TransportError/processed`` is
/// `no`, no byte was sent, or the status is 421 or 425, which a server sends without processing the request (RFC 9110
/// section 15.5.20, RFC 8470 section 5.2). Any other status shows that the server has seen the request: even after 429
/// and 503, a `POST` without an idempotency key is not sent again.
///
/// | outcome | retried |
/// |---|---|
/// | status 421 and 425, `tlsHandshakeFailed`, `proxyFailed`, `poolTimeout` | after the first attempt |
/// | `circuitOpen`, `throttled`, `deadlineExceeded` | no |
/// | other transient failures | yes |
/// | status 408, 429, 500, 502, 503, 504 | yes |
/// | status 409, if the request has an `Idempotency-Key` and was sent before | yes |
///
/// The pause is drawn uniformly between zero and an upper bound that doubles ("full jitter"), starting at 50 ms, or at
/// 1 s if the server throttles (429, or 503 with `Retry-After`), as in AWS's SDKs since 2026. A pause that the server
/// requests is honored, see ``retryAfterLimit``. A pause that would outlast the total time of the call is not begun.
public struct HTTPRetryPolicy: Sendable {
    /// The budget that retries draw on.
    public enum Budget: Sendable {
        /// The client's own budget.
        case perClient
        /// A budget that several clients share.
        case shared(HTTPRetryBudget)
        /// No budget: only the number of attempts limits retries.
        case unlimited
    }

    /// The maximum number of attempts for each address of a call, including the first; at least 1.
    public var attempts: Int

    /// The upper bound of the first pause after a transient failure.
    public var baseDelay = Duration.milliseconds(50)

    /// The upper bound of the first pause after the server has throttled the call.
    public var throttlingBaseDelay = Duration.seconds(1)

    /// The maximum of the upper bound.
    public var maximumDelay = Duration.seconds(20)

    /// The longest pause that a server may request in `Retry-After`.
    ///
    /// A pause up to this limit is honored, even beyond ``maximumDelay``; a longer one ends the call with the response.
    public var retryAfterLimit = Duration.seconds(60)

    /// The budget that retries draw on.
    public var budget = Budget.perClient

    /// Whether a request that found its idle connection closed is immediately sent once more on another one.
    ///
    /// This costs neither an attempt nor tokens, because it says nothing about the server (RFC 9112 section 9.3.1). It
    /// applies to replayable requests that are idempotent or of which no byte was sent.
    public var replacesStaleConnections = true

    /// Returns the fraction of the upper bound to wait, from 0 to 1.
    public var jitter: @Sendable () -> Double = { .random(in: 0...1) }

    /// Creates a policy with the default pauses and the client's own budget.
    public init(attempts: Int = 3) {
        self.attempts = max(1, attempts)
    }

    /// At most three attempts, the default pauses, and the client's own budget.
    public static let standard = HTTPRetryPolicy()

    /// A policy without retries, which also replaces no stale connection.
    public static let never: HTTPRetryPolicy = {
        var policy = HTTPRetryPolicy(attempts: 1)
        policy.replacesStaleConnections = false
        return policy
    }()

    /// Creates a policy with this many attempts and the default pauses.
    public static func attempts(_ attempts: Int) -> HTTPRetryPolicy {
        HTTPRetryPolicy(attempts: attempts)
    }

    /// Draws the pause before a retry, counted from 1.
    func pause(before repetition: Int, _ kind: RetryAdvice.Kind, asked: Duration?) -> Duration {
        let ends = RetryPolicy(
            baseDelay: kind == .throttling ? throttlingBaseDelay : baseDelay,
            maximumDelay: maximumDelay
        )
        let part = min(max(jitter(), 0), 1)
        return max(ends.maximumDelay(before: repetition) * part, asked ?? .zero)
    }
}

extension HTTPCallOptions {
    private enum RetryKey: HTTPCallOptionKey {
        static var defaultValue: HTTPRetryPolicy? { nil }
        // The call that carries out a shared exchange retries it with its own policy.
        static func sharingKey(of policy: HTTPRetryPolicy?) -> AnyHashable? { 0 }
    }

    /// The retry policy of this call; nil uses ``NetworkClient/Configuration/retry``.
    public var retry: HTTPRetryPolicy? {
        get { self[RetryKey.self] }
        set { self[RetryKey.self] = newValue }
    }
}
