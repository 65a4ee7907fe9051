import KeelCore

/// The attempts of one call.
struct Effort: Sendable {
    private(set) var call: HTTPCall

    private let policy: HTTPRetryPolicy
    private let budget: HTTPRetryBudget?
    private let origin: HTTPOrigin?
    private let firstAttempt: Int
    /// The timeouts that the call came with.
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
        // A call that is never retried neither pays into the budget nor draws on it.
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
        guard attempt < min(policy.attempts, advice.attempts) else {
            return .stop(.attemptsExhausted)
        }
        if let asked = advice.asked, asked > policy.retryAfterLimit { return .stop(.pauseTooLong) }
        let pause = policy.pause(before: attempt, advice.kind, asked: advice.asked)
        if let deadline = call.deadline, pause >= deadline.remaining { return .stop(.noTimeLeft) }
        if let budget, let origin, !budget.withdraw(advice.kind, origin) {
            return .stop(.budgetExhausted)
        }
        return .again(after: pause, advice)
    }

    mutating func remember(_ outcome: HTTPAttempt.Outcome, _ duration: Duration) {
        history.append(HTTPAttempt(number: call.attempt, outcome: outcome, duration: duration))
    }

    mutating func advance(_ advice: RetryAdvice) {
        call.attempt += 1
        if advice.needsNewConnection {
            call.options.prefersNewConnection = true
            // A new connection gets all the time left, because the server may just be slow.
            call.timeouts = ownTimeouts
        }
        if let budget { cost = budget.cost(of: advice.kind) }
    }

    func succeeded() {
        guard let budget, let origin else { return }
        budget.deposit(max(1, cost), origin)
    }

    func final(_ error: TransportError, _ decision: Decision) -> TransportError {
        var error = error
        error.attempts = history
        if case .stop(let refusal?) = decision {
            error.retryRefusal = refusal
            call.record(.notRetried(refusal))
        }
        return error
    }

    func cancelled() -> TransportError {
        var error = TransportError(.cancelled)
        error.attempts = history
        return error
    }
}

extension HTTPCall {
    /// Limits the silence of an attempt if the call has no such limit and may be repeated, so that a dead connection
    /// does not take all of its time.
    fileprivate mutating func leavesTimeForAnotherAttempt() {
        guard let time = remainingTime, isIdempotent, isReplayable,
            !(body.map { $0.bytes == nil } ?? false)
        else { return }
        // The time to send the body does not count as silence of the server.
        let sending = sendingTime
        let patience = max(.seconds(10), (time - sending) / 3)
        timeouts.firstByte = timeouts.firstByte ?? patience + sending
        // For a stream, the reader's own limit applies.
        if collection != nil { timeouts.idle = timeouts.idle ?? patience }
    }
}

extension HTTPCall {
    /// The time to allow for sending the body: a second per 64 KiB, half the speed of a 1 Mbit/s line.
    var sendingTime: Duration { .seconds((body?.length ?? 0) / (64 * 1024)) }
}
