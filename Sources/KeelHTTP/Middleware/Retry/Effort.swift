import KeelCore

/// What one call has cost so far, and what it may still cost.
struct Effort: Sendable {
    /// The call as the next attempt sends it.
    private(set) var call: HTTPCall

    private let policy: HTTPRetryPolicy
    private let budget: HTTPRetryBudget?
    private let origin: HTTPOrigin?
    private let firstAttempt: Int
    /// The limits inside the exchange as the call came with them.
    private let ownTimeouts: HTTPTimeouts
    private var history: [HTTPAttempt] = []
    private var cost = 0

    enum Decision: Sendable {
        case again(after: Duration, RetryAdvice)
        case stop(RetryRefusal?)
    }

    init(_ call: HTTPCall, _ policy: HTTPRetryPolicy, budget: HTTPRetryBudget?) {
        self.call = call
        self.policy = policy
        ownTimeouts = call.timeouts
        // A call that is never repeated neither pays nor earns.
        self.budget = policy.attempts > 1 ? budget : nil
        origin = self.budget.map { _ in call.origin }
        firstAttempt = call.attempt
        if let origin { budget?.begin(origin) }
        if policy.attempts > 1 { self.call.leavesTimeForAnotherAttempt() }
    }

    private var attempt: Int { call.attempt - firstAttempt + 1 }

    /// Decides on another attempt, and pays for it.
    func decision(on verdict: RetryVerdict) -> Decision {
        guard policy.attempts > 1 else { return .stop(nil) }
        let advice: RetryAdvice
        switch verdict {
        case .final: return .stop(nil)
        case .unsafe(let refusal): return .stop(refusal)
        case .may(let granted): advice = granted
        }
        guard attempt < min(policy.attempts, advice.attempts) else { return .stop(.attemptsSpent) }
        if let asked = advice.asked, asked > policy.retryAfterLimit { return .stop(.pauseTooLong) }
        let pause = policy.pause(before: attempt, advice.kind, asked: advice.asked)
        if let deadline = call.deadline, pause >= deadline.remaining { return .stop(.noTimeLeft) }
        if let budget, let origin, !budget.withdraw(advice.kind, origin) {
            return .stop(.budgetSpent)
        }
        return .again(after: pause, advice)
    }

    mutating func remember(_ outcome: HTTPAttempt.Outcome, _ duration: Duration) {
        history.append(HTTPAttempt(number: call.attempt, outcome: outcome, duration: duration))
    }

    /// Goes on to the next attempt.
    mutating func advance(_ advice: RetryAdvice) {
        call.attempt += 1
        if advice.needsNewConnection {
            call.options.prefersNewConnection = true
            // A new connection has all the time that is left: the server may just be slow.
            call.timeouts = ownTimeouts
        }
        if let budget { cost = budget.cost(of: advice.kind) }
    }

    /// Pays back what a success is worth.
    func succeeded() {
        guard let budget, let origin else { return }
        budget.deposit(max(1, cost), origin)
    }

    /// The error that ends the call.
    func final(_ error: TransportError, _ decision: Decision) -> TransportError {
        var error = error
        error.attempts = history
        if case .stop(let refusal?) = decision {
            error.retryRefusal = refusal
            call.record(.notRetried(refusal))
        }
        return error
    }

    /// The error of a call that was cancelled in a pause.
    func cancelled() -> TransportError {
        var error = TransportError(.cancelled)
        error.attempts = history
        return error
    }
}

extension HTTPCall {
    /// Limits the silence of an attempt where the call has no limits on it, and may be made again.
    ///
    /// A connection that has died without a word, as after a change of the network, would otherwise
    /// take all of the call's time.
    fileprivate mutating func leavesTimeForAnotherAttempt() {
        guard let deadline, isIdempotent, isReplayable, !(body.map { $0.bytes == nil } ?? false)
        else { return }
        // The way of the body is no silence of the server.
        let sending = sendingTime
        let patience = max(.seconds(10), (deadline.remaining - sending) / 3)
        timeouts.firstByte = timeouts.firstByte ?? patience + sending
        // A stream's own limit is that of its reader.
        if collection != nil { timeouts.idle = timeouts.idle ?? patience }
    }
}

extension HTTPCall {
    /// How long the body may take on its way: a second for each 64 KiB, half of what a line of
    /// 1 Mbit/s carries.
    var sendingTime: Duration { .seconds((body?.length ?? 0) / (64 * 1024)) }
}
