import KeelCore

/// A limit on the load that retries add to an origin in trouble.
///
/// Both limits must permit a retry:
///
/// - Of 500 tokens, a retry takes 14, or 5 if the server throttles; a success returns 1, or the whole cost of the retry
///   that it needed. At most 35 retries in a row can fail (the costs of AWS's SDKs since 2026).
/// - In the last one to two minutes there is at most one retry for ten requests, plus a reserve of 20 for clients with
///   few requests ("Site Reliability Engineering", 2016, chapter 21).
///
/// Clients that call the same servers can share one budget.
public final class HTTPRetryBudget: Sendable {
    /// The parameters of a budget.
    public struct Limits: Sendable, Hashable {
        /// The initial and maximum number of tokens per origin.
        public var tokens = 500
        /// The cost of a retry after a failure.
        public var transientCost = 14
        /// The cost of a retry after a throttled call.
        public var throttlingCost = 5
        /// The number of recent retries for each recent request, not counting retries.
        public var ratio = 0.1
        /// The number of recent retries that the ratio does not limit.
        public var reserve = 20
        /// The length of a window; requests of the current and the previous window are recent.
        public var window = Duration.seconds(60)

        /// Creates the default limits.
        public init() {}
    }

    private struct Account: Sendable {
        var tokens: Int
        /// Retries are marked.
        var recent = RecentCounts()
    }

    private let limits: Limits
    private let timeline: Timeline
    private let accounts: OriginTable<Account>

    /// Creates a budget; `clock` measures its windows.
    public init(_ limits: Limits = Limits(), clock: any Clock<Duration> = ContinuousClock()) {
        self.limits = limits
        timeline = Timeline(clock)
        accounts = OriginTable(Account(tokens: limits.tokens))
    }

    /// Returns the number of tokens that an origin has left.
    public func tokens(for origin: HTTPOrigin) -> Int { accounts.with(origin) { $0.tokens } }

    func begin(_ origin: HTTPOrigin) {
        let now = timeline.now
        accounts.with(origin) { account in
            account.recent.move(to: now, window: limits.window)
            account.recent.add()
        }
    }

    func cost(of kind: RetryAdvice.Kind) -> Int {
        kind == .throttling ? limits.throttlingCost : limits.transientCost
    }

    /// Pays for a retry; returns false if the origin cannot afford it.
    func withdraw(_ kind: RetryAdvice.Kind, _ origin: HTTPOrigin) -> Bool {
        let cost = cost(of: kind)
        let now = timeline.now
        return accounts.with(origin) { account in
            account.recent.move(to: now, window: limits.window)
            let allowed = Double(limits.reserve) + limits.ratio * Double(account.recent.all)
            guard account.tokens >= cost, Double(account.recent.marked + 1) <= allowed else {
                return false
            }
            account.tokens -= cost
            account.recent.mark()
            return true
        }
    }

    func deposit(_ tokens: Int, _ origin: HTTPOrigin) {
        accounts.with(origin) { $0.tokens = min(limits.tokens, $0.tokens + tokens) }
    }
}
