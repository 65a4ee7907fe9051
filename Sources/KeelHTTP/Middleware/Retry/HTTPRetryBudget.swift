import KeelCore

/// Bounds how much repetitions add to the load of an origin that is in trouble.
///
/// Two limits hold for each origin, and the stricter one counts:
///
/// - A bucket of tokens: a repetition takes 14 of 500, or 5 if the server throttles; a success puts
///   1 back, one that took a repetition its whole cost. So at most 35 repetitions in a row fail
///   (the costs of AWS's SDKs since 2026).
/// - A ratio: of the requests of the last minute or two, at most a tenth are repetitions, beside a
///   small reserve that lets a client with few requests repeat them ("Site Reliability
///   Engineering", 2016, chapter 21).
///
/// Clients that call the same servers can share one budget.
public final class HTTPRetryBudget: Sendable {
    /// The numbers of a budget.
    public struct Limits: Sendable, Hashable {
        /// How many tokens an origin begins with and has at the most.
        public var tokens = 500
        /// The cost of a repetition after a failure.
        public var transientCost = 14
        /// The cost of a repetition after a throttled call.
        public var throttlingCost = 5
        /// The part of the recent requests that may be repetitions.
        public var ratio = 0.1
        /// How many repetitions the ratio does not count in each window.
        public var reserve = 20
        /// The span, of which the last one and the one under way are "recent".
        public var window = Duration.seconds(60)

        /// Creates the usual limits.
        public init() {}
    }

    private struct Account: Sendable {
        var tokens: Int
        /// The requests, of which the repetitions count.
        var recent = RecentCounts()
    }

    private let limits: Limits
    private let timeline: Timeline
    private let accounts: OriginTable<Account>

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - limits: Its numbers.
    ///   - clock: The clock that windows are measured on.
    public init(_ limits: Limits = Limits(), clock: any Clock<Duration> = ContinuousClock()) {
        self.limits = limits
        timeline = Timeline(clock)
        accounts = OriginTable(Account(tokens: limits.tokens))
    }

    /// How many tokens an origin has left.
    public func tokens(for origin: HTTPOrigin) -> Int { accounts.with(origin) { $0.tokens } }

    /// Counts a request, before it is sent.
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

    /// Pays for a repetition; false if the origin cannot afford it.
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
