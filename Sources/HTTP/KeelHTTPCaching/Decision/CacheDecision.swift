import HTTPTypes
import KeelCache

/// A cache's decision about a request (RFC 9111 section 4).
enum CacheDecision: Hashable, Sendable {
    case serve(Choice)
    /// Serve a stale stored response, and validate it for the next caller (RFC 5861).
    case serveAndRevalidate(Choice)
    case validate(Choice, CacheStatus.Forward)
    /// Ask the origin; if that fails, a stored response may still be served.
    case forward(CacheStatus.Forward, fallback: Choice?)
    case refuse

    struct Choice: Hashable, Sendable {
        var index: Int
        var response: StoredResponse
        var directives: ResponseDirectives
        var freshness: Freshness
        var reason: HTTPCacheResult.StaleReason?
    }
}

struct CacheQuestion: Sendable {
    var method: HTTPRequest.Method
    var fields: HTTPFields
    var directives: RequestDirectives
    var policy: HTTPCachePolicy
    var now: CacheInstant
}

extension CacheRules {
    func decide(_ question: CacheQuestion, among stored: [StoredResponse]) -> CacheDecision {
        let isOnlyStored = question.directives.onlyIfCached || question.policy.reads == .onlyStored
        guard let choice = choice(for: question, among: stored) else {
            return isOnlyStored ? .refuse : .forward(reason(question, stored), fallback: nil)
        }
        if question.policy.reads == .nothing {
            return isOnlyStored ? .refuse : .forward(.request, fallback: nil)
        }
        let freshness = choice.freshness
        let mustAsk = choice.directives.noCache.isWhole
        let isWanted = question.directives.accepts(
            age: freshness.age,
            remaining: freshness.remaining
        )
        if freshness.isFresh, !mustAsk, isWanted, permits(question, choice) {
            return .serve(choice)
        }
        if let served = stale(choice, question) { return served }
        if isOnlyStored { return .refuse }
        let forward: CacheStatus.Forward = freshness.isFresh && !mustAsk ? .request : .stale
        let canValidate =
            Validators(choice.response.fields).isUsable && question.method == .get
            && (choice.response.part == nil)
        return canValidate ? .validate(choice, forward) : .forward(forward, fallback: choice)
    }

    private func permits(_ question: CacheQuestion, _ choice: CacheDecision.Choice) -> Bool {
        // Revalidating an immutable response is pointless (RFC 8246).
        question.policy.reads != .validated || choice.directives.isImmutable
    }

    private func stale(
        _ choice: CacheDecision.Choice,
        _ question: CacheQuestion
    ) -> CacheDecision? {
        var choice = choice
        let staleness = choice.freshness.staleness
        guard !choice.directives.forbidsStale(self), !choice.response.isOutdated,
            !question.directives.noCache, question.policy.reads != .validated
        else { return nil }
        let isYoung = question.directives.maxAge.map { choice.freshness.age <= $0 } ?? true
        let isLasting = question.directives.minFresh == nil
        if isYoung, isLasting, question.directives.acceptsStale(by: staleness) {
            choice.reason = choice.freshness.isFresh ? nil : .requested
            return .serve(choice)
        }
        switch question.policy.reads {
        case .onlyStored, .anyAge:
            choice.reason = choice.freshness.isFresh ? nil : .requested
            return .serve(choice)
        case .fresh, .validated, .nothing: break
        }
        if let window = choice.directives.staleWhileRevalidate.valid, staleness <= window,
            !choice.freshness.isFresh, !question.directives.demandsFreshness,
            !question.directives.onlyIfCached
        {
            choice.reason = .revalidating
            return .serveAndRevalidate(choice)
        }
        return nil
    }

    /// Returns why a stored response may be served after a failure of the origin, or nil.
    func staleReason(
        _ choice: CacheDecision.Choice,
        for failure: OriginFailure,
        _ question: CacheQuestion
    ) -> HTTPCacheResult.StaleReason? {
        let directives = choice.directives
        guard !directives.forbidsStale(self), !choice.response.isOutdated,
            question.policy.reads != .nothing, question.policy.offline != .forbidden
        else { return nil }
        let staleness = choice.freshness.staleness
        let usual = question.directives.demandsFreshness ? nil : errorLimit
        let window = question.directives.staleIfError ?? directives.staleIfError.valid ?? usual
        if !question.directives.noCache, let window, staleness <= window {
            return failure == .offline ? .offline : .serverError
        }
        guard failure == .offline, !question.directives.demandsFreshness else { return nil }
        if question.policy.offline == .allowed { return .offline }
        return offlineLimit.map { staleness <= $0 } == true ? .offline : nil
    }

    enum OriginFailure: Hashable, Sendable {
        case offline
        case status
    }

    // MARK: Choosing

    private func reason(
        _ question: CacheQuestion,
        _ stored: [StoredResponse]
    ) -> CacheStatus.Forward {
        let stored = stored.filter(mayShare)
        if stored.isEmpty { return .uriMiss }
        return stored.contains { VaryMatch.matches($0, question.fields) } ? .partial : .varyMiss
    }

    /// Returns whether the cache may use a stored response for any user.
    ///
    /// A private cache may have stored it at the same place before the cache became a shared one.
    private func mayShare(_ response: StoredResponse) -> Bool {
        guard isShared else { return true }
        let scope = ResponseDirectives(response.fields, self).isPrivate
        return !scope.isWhole
            && !response.fields.contains { scope.fields.contains($0.name.canonicalName) }
    }

    private func choice(
        for question: CacheQuestion,
        among stored: [StoredResponse]
    ) -> CacheDecision.Choice? {
        let range = question.method == .get ? question.fields[.range].flatMap(ByteRange.init) : nil
        let fitting = stored.indices.filter { index in
            let response = stored[index]
            guard mayShare(response), VaryMatch.matches(response, question.fields) else {
                return false
            }
            guard response.part != nil else { return true }
            guard let range, RequestConditions.permitRange(question.fields, of: response) else {
                return false
            }
            return response.slice(range) != nil
        }
        let best = fitting.max { left, right in
            let (left, right) = (stored[left], stored[right])
            if (left.part == nil) != (right.part == nil) { return left.part != nil }
            return left.received < right.received
        }
        guard let best else { return nil }
        let response = stored[best]
        let directives = ResponseDirectives(response.fields, self)
        return CacheDecision.Choice(
            index: best,
            response: response,
            directives: directives,
            freshness: Freshness(response, directives, at: question.now, self)
        )
    }
}
