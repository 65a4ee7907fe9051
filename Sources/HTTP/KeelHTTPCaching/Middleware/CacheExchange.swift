import HTTPTypes
import KeelCache
import KeelHTTP

/// One call on its way through a cache.
///
/// Does not retain the cache: a background revalidation must not keep its owner alive.
struct CacheExchange: Sendable {
    let call: HTTPCall
    let next: HTTPNext
    let store: ResponseStore
    let rules: CacheRules
    let limits: BodyRecorder.Limits
    let name: String?
    let owner: CacheOwner
    let key: StorageKey
    let question: CacheQuestion
    let conditions: RequestConditions

    /// Prepares a call; nil if the cache does not handle it.
    init?(_ call: HTTPCall, _ next: HTTPNext, _ cache: HTTPCache) async {
        let configuration = cache.configuration
        let rules = configuration.rules
        let policy = call.options.cachePolicy
        let isReading = call.head.method == .get || call.head.method == .head
        guard policy != .bypass, !call.options.isTransfer, call.body == nil || !isReading,
            let address = ResourceAddress(call.head),
            let owner = await CacheOwner(of: call, configuration)
        else { return nil }
        self.call = call
        self.next = next
        self.owner = owner
        self.rules = rules
        store = cache.store
        limits = configuration.bodyLimits
        name = configuration.name
        key = StorageKey(address, partition: owner.name)
        question = CacheQuestion(
            method: call.head.method,
            fields: call.head.headerFields,
            directives: RequestDirectives(call.head.headerFields),
            policy: policy,
            now: cache.store.clock.now
        )
        conditions = RequestConditions(call.head.headerFields)
        if question.directives.noStore, isReading { return nil }
    }

    // MARK: Reading

    func answer(_ cache: HTTPCache) async throws(TransportError) -> HTTPReply {
        guard !conditions.concernOrigin else { return try await fetched(.request, fallback: nil) }
        // A response may be replaced, and its body removed, after its list was read.
        var gone: Set<StoredResponse.BodyID> = []
        while true {
            let stored = await store.responses(at: key).filter { !gone.contains($0.body) }
            switch rules.decide(question, among: stored) {
            case .serve(let choice):
                let result = choice.reason.map { HTTPCacheResult.stale($0) } ?? .fresh
                if let reply = await served(choice, result) { return reply }
                gone.insert(choice.response.body)
            case .serveAndRevalidate(let choice):
                if let reply = await served(choice, .stale(.revalidating)) {
                    revalidateInBackground(choice, cache.revalidations)
                    return reply
                }
                gone.insert(choice.response.body)
            case .validate(let choice, let forward):
                if let body = await readable(choice.response) {
                    guard let key = await flightKey(choice) else {
                        return try await validated(choice, body, forward)
                    }
                    return try await joined(choice, body, forward, cache.flights, key)
                }
                gone.insert(choice.response.body)
            case .forward(let forward, let fallback):
                return try await fetched(forward, fallback: fallback)
            case .refuse:
                store.counts.add(\.onlyIfCachedMisses)
                return .notStored(by: name)
            }
        }
    }

    func fetched(
        _ forward: CacheStatus.Forward,
        fallback: CacheDecision.Choice?
    ) async throws(TransportError) -> HTTPReply {
        let arrival: Arrival
        do throws(TransportError) {
            arrival = try await inTime(for: fallback, keepingLate: \.isWhole) {
                () async throws(TransportError) in try await send(call)
            }
        } catch {
            return try await serveStale(fallback, for: error)
        }
        if let fallback, let reply = await serveStale(fallback, for: arrival) { return reply }
        if call.head.method == .head {
            await learn(from: arrival)
            store.counts.add(\.misses)
            return arrival.reply.passed(forward, by: name)
        }
        return await kept(arrival, forward)
    }

    // MARK: Changing

    func change(_ cache: HTTPCache) async throws(TransportError) -> HTTPReply {
        var arrival: Arrival
        do throws(TransportError) {
            arrival = try await send(call)
        } catch {
            await cache.invalidateAfter(call.head, error)
            throw error
        }
        await cache.invalidateAfter(call.head, arrival.reply.head)
        guard Invalidation.isReadable(call.head, arrival.reply.head, rules) else {
            return arrival.reply.passed(.method, by: name)
        }
        // It invalidates earlier responses, but not the one that came with it.
        arrival.mark = store.mark
        return await kept(arrival, .method, countsAsMiss: false)
    }

    // MARK: The origin

    struct Arrival: Sendable {
        var reply: HTTPReply
        var requested: CacheInstant
        var received: CacheInstant
        var mark: InvalidationLog.Mark
        /// Whether it was requested in the name of the user whose responses these are.
        var isOwners: Bool

        var isWhole: Bool { reply.body.collected != nil }
    }

    func send(_ call: HTTPCall) async throws(TransportError) -> Arrival {
        let mark = store.mark
        let requested = store.clock.now
        var asking = call
        asking.options.reportsSentFields = true
        let reply = try await next(asking)
        let received = store.clock.now
        return Arrival(
            reply: reply,
            requested: requested,
            received: received,
            mark: mark,
            isOwners: await owner.owns(reply, to: call)
        )
    }

    // MARK: Serving stale responses

    /// Asks the origin, and gives up before the call's deadline if a stored response may be served
    /// instead: an origin that is silent until then would leave no time for it.
    func inTime<Value: Sendable>(
        for choice: CacheDecision.Choice?,
        keepingLate isWhole: (Value) -> Bool = { _ in true },
        _ ask: @escaping @Sendable () async throws(TransportError) -> Value
    ) async throws(TransportError) -> Value {
        guard let choice, let deadline = call.deadline,
            rules.staleReason(choice, for: .offline, question) != nil
        else { return try await ask() }
        return try await deadline.early.run(
            throwing: TransportError(.responseTimeout, url: call.redactedURL),
            keepingLate: isWhole,
            ask
        )
    }

    func serveStale(
        _ choice: CacheDecision.Choice?,
        for error: TransportError
    ) async throws(TransportError) -> HTTPReply {
        guard let choice, Self.isUnreachable(error),
            let reason = rules.staleReason(choice, for: .offline, question),
            let reply = await served(choice, .stale(reason))
        else { throw error }
        return reply
    }

    /// Serves a stored response instead of an answer by which the origin reports a failure.
    func serveStale(_ choice: CacheDecision.Choice, for arrival: Arrival) async -> HTTPReply? {
        let status = arrival.reply.head.status.code
        guard CacheRules.errorStatuses.contains(status),
            let reason = rules.staleReason(choice, for: .status, question)
        else { return nil }
        return await served(choice, .stale(reason), forwardStatus: status)
    }

    /// Whether an error means that the origin is unreachable, or the identity server, without whose answer the call
    /// could not be signed.
    private static func isUnreachable(_ error: TransportError) -> Bool {
        guard error.code == .credentialsUnavailable else {
            return offlineCodes.contains(error.code)
        }
        guard let reason = error.cause as? AuthenticationError, reason.code == .refreshFailed
        else { return false }
        let failure =
            (reason.cause as? NetworkError)?.transportError ?? (reason.cause as? TransportError)
        guard let code = failure?.code else { return false }
        // The timeout of the identity server's own client.
        return offlineCodes.contains(code) || code == .deadlineExceeded
    }

    /// Failures that mean that a server is unreachable.
    ///
    /// Excludes those where someone else answered, such as an untrusted certificate.
    static let offlineCodes: Set<TransportError.Code> = [
        .offline, .hostNotFound, .nameLookupFailed, .connectionRefused, .connectTimeout,
        .proxyFailed, .circuitOpen, .responseTimeout, .writeTimeout, .attemptTimeout, .tooSlow,
        .connectionLost, .staleConnection, .streamRefused, .streamReset, .truncatedBody,
    ]
}
