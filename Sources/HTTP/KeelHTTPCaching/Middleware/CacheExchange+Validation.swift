import HTTPTypes
import KeelCache
import KeelCore
import KeelHTTP

extension CacheExchange {
    func validated(
        _ choice: CacheDecision.Choice,
        _ body: CacheBody,
        _ forward: CacheStatus.Forward
    ) async throws(TransportError) -> HTTPReply {
        if let reply = try await conditionallyAsked(choice, body, forward) { return reply }
        // The 304 reply is released by now: the second request may need its connection.
        return try await fetched(forward, fallback: nil)
    }

    /// Returns the reply to a conditional request, or nil if the reply says nothing about the
    /// response stored for this user.
    private func conditionallyAsked(
        _ choice: CacheDecision.Choice,
        _ body: CacheBody,
        _ forward: CacheStatus.Forward
    ) async throws(TransportError) -> HTTPReply? {
        var conditional = call
        conditional.head.headerFields = Validation.conditional(
            question.fields,
            for: choice.response
        )
        let arrival: Arrival
        do throws(TransportError) {
            arrival = try await inTime(for: choice, keepingLate: \.isWhole) {
                [conditional] () async throws(TransportError) in try await send(conditional)
            }
        } catch {
            return try await serveStale(choice, for: error)
        }
        if arrival.reply.head.status == .notModified {
            return await notModified(arrival, choice, body, forward)
        }
        if let reply = await serveStale(choice, for: arrival) { return reply }
        if arrival.reply.head.status == .partialContent, arrival.isOwners {
            // The condition did not hold, so the part belongs to another state.
            await store.drop(choice.response, at: key)
        }
        return await kept(arrival, forward)
    }

    private func notModified(
        _ arrival: Arrival,
        _ choice: CacheDecision.Choice,
        _ body: CacheBody,
        _ forward: CacheStatus.Forward
    ) async -> HTTPReply? {
        // Another user's 304 says nothing about the response stored for this user.
        guard arrival.isOwners else { return nil }
        let subject = Validation.subject(
            of: arrival.reply.head.headerFields,
            stored: choice.response,
            client: question.fields
        )
        switch subject {
        case .stored:
            let fresh = await renewed(choice.response, by: arrival)
            var reply = revalidated(fresh, body, validationStatus(forward))
            if rules.dropsCookies { reply.addCookies(of: arrival.reply) }
            return reply
        case .client:
            store.counts.add(\.misses)
            return arrival.reply.passed(forward, by: name)
        case .neither:
            await store.drop(choice.response, at: key)
            return nil
        }
    }

    private func revalidated(
        _ fresh: StoredResponse,
        _ body: CacheBody,
        _ status: CacheStatus
    ) -> HTTPReply {
        reply(fresh, ResponseDirectives(fresh.fields, rules), body, .revalidated, status)
    }

    private func validationStatus(_ forward: CacheStatus.Forward) -> CacheStatus {
        var status = CacheStatus()
        status.forward = forward
        status.forwardStatus = 304
        return status
    }

    // MARK: Sharing a revalidation

    /// Returns the key under which calls share a revalidation, or nil if the call cannot share one.
    ///
    /// A stream cannot be shared. A call that demands revalidation gets its own, and so does one whose observer needs
    /// the bytes.
    func flightKey(_ choice: CacheDecision.Choice) async -> ValidationFlight.Key? {
        guard let collection = call.collection, call.options.allowsCoalescing,
            call.options.downloadObserver == nil, !conditions.isPresent,
            question.fields[.range] == nil, !question.directives.demandsFreshness,
            question.policy.reads == .fresh
        else { return nil }
        // The call may belong to the renewal of the token for which a shared revalidation waits.
        if let signer = call.actingSigner, await signer.identity() == nil { return nil }
        return ValidationFlight.Key(
            subject: ValidationFlight.Subject(list: key.list, body: choice.response.body),
            collection: collection,
            authentication: call.options.authentication,
            mark: store.mark
        )
    }

    func joined(
        _ choice: CacheDecision.Choice,
        _ body: CacheBody,
        _ forward: CacheStatus.Forward,
        _ flights: SingleFlight<ValidationFlight.Key, ValidationFlight.Outcome>,
        _ key: ValidationFlight.Key
    ) async throws(TransportError) -> HTTPReply {
        let outcome: ValidationFlight.Outcome
        let isFollower: Bool
        do throws(TransportError) {
            (outcome, isFollower) = try await inTime(for: choice) {
                () async throws(TransportError) in
                try await shared(choice, forward, flights, key)
            }
        } catch {
            return try await serveStale(choice, for: error)
        }
        if isFollower { store.counts.add(\.sharedRevalidations) }
        switch outcome {
        case .stored(let fresh):
            // The 304 may have brought a `Vary` by fields in which the waiting calls differ.
            let vary = choice.response.fields[values: .vary]
            guard !isFollower || fresh.fields[values: .vary] == vary else {
                return try await fetched(.stale, fallback: choice)
            }
            var status = validationStatus(forward)
            status.isCollapsed = isFollower
            return revalidated(fresh, body, status)
        case .replied(let reply, let bytes, let isForAll):
            guard !isFollower || isForAll else {
                return try await fetched(.stale, fallback: choice)
            }
            return try await taken(reply, bytes, choice, isFollower)
        }
    }

    /// Returns the outcome of a revalidation that several calls share, and whether another call had started it.
    private func shared(
        _ choice: CacheDecision.Choice,
        _ forward: CacheStatus.Forward,
        _ flights: SingleFlight<ValidationFlight.Key, ValidationFlight.Outcome>,
        _ key: ValidationFlight.Key
    ) async throws(TransportError) -> (ValidationFlight.Outcome, Bool) {
        let leader = CacheExchange(self, sending: call.shared())
        var isFollower = false
        do {
            let outcome = try await flights.run(
                key,
                onJoin: { isFollower = true },
                operation: { try await leader.flight(choice, forward, key.collection) }
            )
            return (outcome, isFollower)
        } catch {
            throw (error as? TransportError) ?? TransportError(.cancelled)
        }
    }

    private func taken(
        _ reply: HTTPReply,
        _ bytes: [UInt8],
        _ choice: CacheDecision.Choice,
        _ isFollower: Bool
    ) async throws(TransportError) -> HTTPReply {
        if CacheRules.errorStatuses.contains(reply.head.status.code),
            let reason = rules.staleReason(choice, for: .status, question),
            let stale = await served(
                choice,
                .stale(reason),
                forwardStatus: reply.head.status.code
            )
        {
            return stale
        }
        // The new response may depend on fields in which the waiting calls differ.
        guard !isFollower || isForEverybody(reply.head.headerFields) else {
            return try await fetched(.stale, fallback: choice)
        }
        var copy = reply
        copy.body = .collected(bytes, trailers: reply.body.trailers)
        return copy
    }

    private func isForEverybody(_ fields: HTTPFields) -> Bool {
        fields[values: .vary].isEmpty && !ResponseDirectives(fields, rules).noStore
    }

    private func flight(
        _ choice: CacheDecision.Choice,
        _ forward: CacheStatus.Forward,
        _ collection: BodyCollection
    ) async throws(TransportError) -> ValidationFlight.Outcome {
        if let outcome = try await conditionalFlight(choice, forward, collection) { return outcome }
        // The 304 reply is released by now: the second request may need its place under a limit.
        return try await outcome(of: send(call), forward, collection)
    }

    /// Returns the outcome of a conditional request, or nil if the reply says nothing about the
    /// response stored for this user.
    private func conditionalFlight(
        _ choice: CacheDecision.Choice,
        _ forward: CacheStatus.Forward,
        _ collection: BodyCollection
    ) async throws(TransportError) -> ValidationFlight.Outcome? {
        var conditional = call
        conditional.head.headerFields = Validation.conditional(
            question.fields,
            for: choice.response
        )
        let arrival = try await send(conditional)
        guard arrival.reply.head.status == .notModified else {
            return try await outcome(of: arrival, forward, collection)
        }
        guard arrival.isOwners else { return nil }
        let subject = Validation.subject(
            of: arrival.reply.head.headerFields,
            stored: choice.response,
            client: question.fields
        )
        if subject == .stored { return .stored(await renewed(choice.response, by: arrival)) }
        await store.drop(choice.response, at: key)
        return nil
    }

    private func outcome(
        of arrival: Arrival,
        _ forward: CacheStatus.Forward,
        _ collection: BodyCollection
    ) async throws(TransportError) -> ValidationFlight.Outcome {
        let reply = await kept(arrival, forward)
        let bytes = try await collection.bytes(of: reply, to: call.head.method)
        return .replied(reply, bytes, isForAll: arrival.isOwners)
    }

    // MARK: In the background

    func revalidateInBackground(
        _ choice: CacheDecision.Choice,
        _ revalidations: BackgroundRevalidations
    ) {
        let subject = ValidationFlight.Subject(list: key.list, body: choice.response.body)
        let isStarted = revalidations.start(subject) {
            await quiet(about: choice.response).renew(choice.response)
        }
        if isStarted { store.counts.add(\.backgroundRevalidations) }
    }

    /// Returns the exchange that renews a stored response, without what concerns only the caller.
    private func quiet(about stored: StoredResponse) -> CacheExchange {
        var quiet = call
        quiet.deadline = nil
        // The caller's call is over by then.
        quiet.recorder = nil
        quiet.onInterimResponse = nil
        quiet.options.downloadObserver = nil
        quiet.head.method = .get
        for name in Self.callerFields { quiet.head.headerFields[name] = nil }
        if Validators(stored.fields).isUsable, stored.part == nil {
            let fields = quiet.head.headerFields
            quiet.head.headerFields = Validation.conditional(fields, for: stored)
        }
        return CacheExchange(self, sending: quiet)
    }

    private func renew(_ stored: StoredResponse) async {
        do throws(TransportError) {
            let arrival = try await send(call)
            guard arrival.isOwners else { return }
            if arrival.reply.head.status == .notModified {
                let subject = Validation.subject(
                    of: arrival.reply.head.headerFields,
                    stored: stored,
                    client: [:]
                )
                guard subject == .stored else { return await store.drop(stored, at: key) }
                _ = await renewed(stored, by: arrival)
            } else if !CacheRules.errorStatuses.contains(arrival.reply.head.status.code) {
                var body = await kept(arrival, .stale, countsAsMiss: false).body.makeAsyncIterator()
                while try await body.next() != nil {}
            }
        } catch {
            // The stored response remains; the next caller tries again.
        }
    }

    /// Fields that concern the caller's copy or preferences, not the resource.
    private static let callerFields: [HTTPField.Name] = [
        .ifNoneMatch, .ifModifiedSince, .ifRange, .range, .cacheControl, .pragma,
    ]
}

extension CacheExchange {
    init(_ exchange: CacheExchange, sending call: HTTPCall) {
        self.call = call
        next = exchange.next
        store = exchange.store
        rules = exchange.rules
        limits = exchange.limits
        name = exchange.name
        owner = exchange.owner
        key = exchange.key
        question = exchange.question
        conditions = exchange.conditions
    }
}

enum ValidationFlight {
    struct Subject: Hashable, Sendable {
        var list: [UInt8]
        var body: StoredResponse.BodyID
    }

    /// Equal for calls that share a revalidation.
    struct Key: Hashable, Sendable {
        var subject: Subject
        var collection: BodyCollection
        /// An unsigned call does not wait for the token of a signed one.
        var authentication: HTTPAuthentication
        /// A call after a change needs an answer that the origin gave after it.
        var mark: InvalidationLog.Mark
    }

    enum Outcome: Sendable {
        /// The stored response is valid, and was updated.
        case stored(StoredResponse)
        /// The origin sent another response, which was read to its end. Waiting calls may use it
        /// only if it was requested in their user's name.
        case replied(HTTPReply, [UInt8], isForAll: Bool)
    }
}
