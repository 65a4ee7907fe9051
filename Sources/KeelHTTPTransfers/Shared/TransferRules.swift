public import KeelCore

/// When a transfer tries again, and when it gives up.
///
/// Attempts count in a row: as soon as more bytes are safe, the count begins anew. A transfer of a
/// day therefore survives any number of broken connections, and one to a dead server ends soon.
public struct TransferRetry: Sendable {
    /// How many attempts in a row may bring nothing, and the pauses between them.
    ///
    /// Its `totalLimit` is counted from the start of the run.
    public var policy = RetryPolicy(attempts: 6, baseDelay: .milliseconds(500))

    /// The longest pause that a server may ask for in `Retry-After`; a longer one ends the run.
    public var retryAfterLimit = Duration.seconds(120)

    /// How often one run may begin anew, because the file changes or the server loses the upload.
    public var restartLimit = 3

    /// Draws a number from 0 to 1: the part of the longest pause that is waited.
    public var jitter: @Sendable () -> Double = { .random(in: 0...1) }

    /// Creates the usual rules: six attempts in a row, pauses of up to 20 s, three restarts.
    public init() {}
}

/// Counts what went wrong since a transfer last came further.
struct TransferPatience: Sendable, Hashable {
    private var failures = 0
    private(set) var restarts = 0

    /// What to do about a failure.
    enum Verdict: Hashable, Sendable {
        case giveUp
        /// Rest for a part of `longest`, but not less than `atLeast`.
        case rest(longest: Duration, atLeast: Duration)
    }

    mutating func cameFurther() { failures = 0 }

    /// Counts an attempt that failed, `now` after the start of the run.
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
        let longest = rules.policy.longestDelay(before: failures)
        if let limit = rules.policy.totalLimit, now + max(longest, asked) > limit {
            return .giveUp
        }
        return .rest(longest: longest, atLeast: asked)
    }

    /// Counts a restart; false when there may be no more.
    mutating func restarted(_ rules: TransferRetry) -> Bool {
        restarts += 1
        return restarts <= rules.restartLimit
    }
}
