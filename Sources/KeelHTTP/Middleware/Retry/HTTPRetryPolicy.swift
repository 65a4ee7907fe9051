import KeelCore

/// Which calls a client repeats, how often and after what pauses.
///
/// A call is repeated only where that is known to do no harm:
///
/// - the request is idempotent (``HTTPCall/isIdempotent``: by its method, by an `Idempotency-Key`
///   or because the call says so), or it provably was not acted on: ``TransportError/processed`` is
///   `no`, no byte of it was sent, or the answer is 421 or 425, which a server gives without
///   having looked at the request (RFC 9110 section 15.5.20, RFC 8470 section 5.2);
/// - its body can be sent again (``HTTPBody/isReplayable``).
///
/// Failures that may pass and the statuses 408, 429, 500, 502, 503 and 504 are repeated; 421, 425,
/// a failed TLS handshake and a wait for a connection that took too long, once. A status says that
/// the server has seen the request: after 429 and 503 too, a `POST` without an idempotency key is
/// not sent again, because no RFC promises that nothing was done.
///
/// The pause is drawn evenly from zero to an upper end that doubles ("full jitter") and starts at
/// 50 ms, or at 1 s where the server throttles (429, or 503 with `Retry-After`): the delays, and the
/// costs in ``HTTPRetryBudget``, are those that the SDKs of AWS have used since 2026. A pause that
/// the server asks for is kept, see ``retryAfterLimit``. No pause is begun that would outlast the
/// total time of the call.
public struct HTTPRetryPolicy: Sendable {
    /// Who pays for repetitions.
    public enum Budget: Sendable {
        /// A budget of the client's own.
        case ofClient
        /// A budget that several clients share.
        case shared(HTTPRetryBudget)
        /// Nobody: repetitions are bounded by the attempts alone.
        case unlimited
    }

    /// How many times a call is made at the most, the first time included; at least 1.
    ///
    /// Each redirect of a call begins to count anew.
    public var attempts: Int

    /// The upper end of the first pause after a failure that may pass.
    public var baseDelay = Duration.milliseconds(50)

    /// The upper end of the first pause after a server has throttled the call.
    public var throttlingBaseDelay = Duration.seconds(1)

    /// The upper end that no drawn pause passes.
    public var maximumDelay = Duration.seconds(20)

    /// The longest pause that a server may ask for in `Retry-After`.
    ///
    /// A pause up to here is kept, also beyond ``maximumDelay``; a longer one ends the call at once
    /// with the response as it is.
    public var retryAfterLimit = Duration.seconds(60)

    /// Who pays for repetitions.
    public var budget = Budget.ofClient

    /// Whether a request that found its kept connection closed is sent once more, at once, on
    /// another one.
    ///
    /// That takes neither an attempt nor anything of the budget, because it says nothing about the
    /// state of the server (RFC 9112 section 9.3.1). It holds for requests that are idempotent or
    /// of which no byte was sent.
    public var replacesStaleConnections = true

    /// Draws a number from 0 to 1: the part of the longest pause that is waited.
    public var jitter: @Sendable () -> Double = { .random(in: 0...1) }

    /// Creates a policy with the usual pauses and a budget of the client's own.
    public init(attempts: Int = 3) {
        self.attempts = max(1, attempts)
    }

    /// Three attempts at the most, the usual pauses, a budget of the client's own.
    public static let standard = HTTPRetryPolicy()

    /// Sends each request once, whatever happens.
    public static let never: HTTPRetryPolicy = {
        var policy = HTTPRetryPolicy(attempts: 1)
        policy.replacesStaleConnections = false
        return policy
    }()

    /// A policy with this many attempts and the usual pauses.
    public static func attempts(_ attempts: Int) -> HTTPRetryPolicy {
        HTTPRetryPolicy(attempts: attempts)
    }

    /// Draws the pause before repetition `repetition`, which counts from 1.
    func pause(before repetition: Int, _ kind: RetryAdvice.Kind, asked: Duration?) -> Duration {
        let ends = RetryPolicy(
            baseDelay: kind == .throttling ? throttlingBaseDelay : baseDelay,
            maximumDelay: maximumDelay
        )
        let part = min(max(jitter(), 0), 1)
        return max(ends.longestDelay(before: repetition) * part, asked ?? .zero)
    }
}

extension HTTPCallOptions {
    private enum RetryKey: HTTPCallOptionKey {
        static var defaultValue: HTTPRetryPolicy? { nil }
        // The call that carries out a shared exchange repeats it in its own way.
        static func sharingKey(of policy: HTTPRetryPolicy?) -> AnyHashable? { 0 }
    }

    /// How this call is repeated; nil goes by ``NetworkClient/Configuration/retry``.
    public var retry: HTTPRetryPolicy? {
        get { self[RetryKey.self] }
        set { self[RetryKey.self] = newValue }
    }
}
