public import KeelCore

/// The rules for retrying a transfer and giving up.
///
/// Only consecutive failures count: once more bytes are safe, the count restarts.
public struct TransferRetry: Sendable {
    /// The number of consecutive attempts without progress, and the pauses between them.
    ///
    /// Its `totalLimit` counts from the start of the run.
    public var policy = RetryPolicy(attempts: 6, baseDelay: .milliseconds(500))

    /// The longest pause that a server may request in `Retry-After`; a longer one ends the run.
    public var retryAfterLimit = Duration.seconds(120)

    /// How often one run may start over because the file changed, the server refused a range, or it lost or rejected
    /// the upload.
    public var restartLimit = 3

    /// A function that returns a random number from 0 to 1: the fraction of the longest pause to wait.
    public var jitter: @Sendable () -> Double = { .random(in: 0...1) }

    /// Creates the default rules: six consecutive attempts, pauses of up to 20 s, three restarts.
    public init() {}
}

/// Counts failures since a transfer last made progress.
struct TransferPatience: Sendable, Hashable {
    private var failures = 0
    private(set) var restarts = 0

    enum Verdict: Hashable, Sendable {
        case giveUp
        /// Pause for a random part of `longest`, but at least `atLeast`.
        case rest(longest: Duration, atLeast: Duration)
    }

    mutating func cameFurther() { failures = 0 }

    mutating func failed(
        _ rules: TransferRetry,
        asked: Duration?,
        now: Duration
    ) -> Verdict {
        failures += 1
        let asked = asked ?? .zero
        guard failures < rules.policy.attempts, asked <= rules.retryAfterLimit else {
            return .giveUp
        }
        let longest = rules.policy.maximumDelay(before: failures)
        if let limit = rules.policy.totalLimit, now + max(longest, asked) > limit {
            return .giveUp
        }
        return .rest(longest: longest, atLeast: asked)
    }

    mutating func restarted(_ rules: TransferRetry) -> Bool {
        restarts += 1
        return restarts <= rules.restartLimit
    }
}
