import KeelCore

/// What one call has cost so far, and what it may still cost.
struct Effort: Sendable {
    /// The call as the next attempt sends it.
    private(set) var call: HTTPCall

    private let policy: HTTPRetryPolicy
    private let budget: HTTPRetryBudget?
    private let origin: HTTPOrigin?
    private let firstAttempt: Int
    private var history: [HTTPAttempt] = []
    private var cost = 0

    enum Decision: Sendable {
        case again(after: Duration, RetryAdvice)
        case stop(RetryRefusal?)
    }

    init(_ call: HTTPCall, _ policy: HTTPRetryPolicy, budget: HTTPRetryBudget?) {
        self.call = call
        self.policy = policy
        // A call that is never repeated neither pays nor earns.
        self.budget = policy.attempts > 1 ? budget : nil
        origin = self.budget.map { _ in call.origin }
        firstAttempt = call.attempt
        if let origin { budget?.begin(origin) }
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
        if advice.needsNewConnection { call.options.prefersNewConnection = true }
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
