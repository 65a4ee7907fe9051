import HTTPTypes
import KeelCore

/// The layer that makes the attempts of a call: it enforces their limits, reads their bodies into memory, and retries
/// failures.
struct RetryMiddleware: HTTPMiddleware, DeadlineEnforcing {
    private let policy: HTTPRetryPolicy
    private let clock: any Clock<Duration>
    private let timer: DeadlineTimer
    private let ownBudget: HTTPRetryBudget

    init(_ policy: HTTPRetryPolicy, _ clock: any Clock<Duration>, _ timer: DeadlineTimer) {
        self.policy = policy
        self.clock = clock
        self.timer = timer
        ownBudget = HTTPRetryBudget(clock: clock)
    }

    func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        let policy = call.options.retry ?? policy
        var effort = Effort(call, policy, budget: budget(of: policy))
        while true {
            let start = timer.now
            let outcome: Outcome
            do throws(TransportError) {
                outcome = try await attempt(effort, next)
            } catch {
                effort.remember(.failed(error.code), timer.now - start)
                let decision = effort.decision(on: RetryVerdict(error, of: effort.call))
                guard case .again(let pause, let advice) = decision else {
                    throw effort.final(error, decision)
                }
                try await rest(&effort, pause, advice, reason: error.code.name)
                continue
            }
            switch outcome {
            case .kept(let reply, let isSuccess):
                if isSuccess { effort.succeeded() }
                return reply
            case .refused(let status, let pause, let advice):
                effort.remember(.answered(status: status), timer.now - start)
                try await rest(&effort, pause, advice, reason: "status \(status)")
            }
        }
    }

    private func budget(of policy: HTTPRetryPolicy) -> HTTPRetryBudget? {
        switch policy.budget {
        case .perClient: ownBudget
        case .shared(let budget): budget
        case .unlimited: nil
        }
    }

    // MARK: One attempt

    private enum Outcome: Sendable {
        case kept(HTTPReply, isSuccess: Bool)
        case refused(status: Int, pause: Duration, RetryAdvice)

        var isWhole: Bool {
            guard case .kept(let reply, _) = self else { return true }
            return reply.body.collected != nil
        }
    }

    private func attempt(
        _ effort: Effort,
        _ next: HTTPNext
    ) async throws(TransportError) -> Outcome {
        guard let limit = effort.call.timeouts.attempt else { return try await turn(effort, next) }
        let turn: @Sendable () async throws(TransportError) -> Outcome = {
            () async throws(TransportError) in
            try await self.turn(effort, next)
        }
        return try await Deadline(in: limit, on: timer).run(
            throwing: TransportError(.attemptTimeout),
            keepingLate: \.isWhole,
            turn
        )
    }

    private func turn(_ effort: Effort, _ next: HTTPNext) async throws(TransportError) -> Outcome {
        let call = effort.call
        var reply = try await next(call)
        if let rate = call.timeouts.minimumRate {
            reply.body = reply.body.held(to: rate, on: timer)
        }
        let verdict = RetryVerdict(reply, of: call)
        switch effort.decision(on: verdict) {
        case .again(let pause, let advice):
            await reply.drain(on: timer)
            return .refused(status: reply.head.status.code, pause: pause, advice)
        case .stop(let refusal):
            if let refusal { call.record(.notRetried(refusal)) }
            if let collection = call.collection {
                reply = try await collection.collected(reply, to: call.head.method)
            }
            if call.attempt > reply.notes.attempt { reply.notes.attempt = call.attempt }
            return .kept(reply, isSuccess: verdict == .final)
        }
    }

    // MARK: Between two attempts

    private func rest(
        _ effort: inout Effort,
        _ pause: Duration,
        _ advice: RetryAdvice,
        reason: String
    ) async throws(TransportError) {
        // Draining the body took time as well.
        let pause = min(pause, max(.zero, effort.call.deadline?.remaining ?? pause))
        effort.call.record(.retrying(after: pause, reason: reason))
        do {
            if pause > .zero { try await clock.sleep(for: pause) }
            try Task.checkCancellation()
        } catch {
            throw effort.cancelled()
        }
        effort.advance(advice)
    }
}

extension HTTPReplyNotes {
    private enum AttemptKey: HTTPReplyNoteKey {
        static var defaultValue: Int { 1 }
    }

    /// The number of the attempt that had the reply, or a higher one if a layer below the retries has repeated the
    /// request.
    ///
    /// With more than 1, the server may know the request already.
    package internal(set) var attempt: Int {
        get { self[AttemptKey.self] }
        set { self[AttemptKey.self] = newValue }
    }
}
