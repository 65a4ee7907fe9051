import HTTPTypes
import KeelCache
import KeelCore
import KeelHTTP

extension CacheExchange {
    /// Asks the origin whether a stored response is still good.
    func validated(
        _ choice: CacheDecision.Choice,
        _ body: CacheBody,
        _ forward: CacheStatus.Forward
    ) async throws(TransportError) -> HTTPReply {
        if let reply = try await conditionallyAsked(choice, body, forward) { return reply }
        // The answer is gone by now: the second request may need the place that the first one had.
        return try await fetched(forward, fallback: nil)
    }

    /// Returns the reply to a request with a condition; nil for one that says nothing about what is
    /// stored for this user.
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
            arrival = try await send(conditional)
        } catch {
            return try await standIn(choice, for: error)
        }
        if arrival.reply.head.status == .notModified {
            return await notModified(arrival, choice, body, forward)
        }
        if let reply = await standIn(choice, for: arrival) { return reply }
        if arrival.reply.head.status == .partialContent, arrival.isOwners {
            // The condition did not hold: the part is one of another state.
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
        // What another user has unchanged says nothing about what is stored for this one.
        guard arrival.isOwners else { return nil }
        let subject = Validation.subject(
            of: arrival.reply.head.headerFields,
            stored: choice.response,
            client: question.fields
        )
        switch subject {
        case .stored:
            let fresh = await renewed(choice.response, by: arrival)
            var reply = reply(fresh, body, .revalidated, validationStatus(forward))
            if rules.dropsCookies { reply.addCookies(of: arrival.reply) }
            return reply
        case .client:
            store.counts.add(\.misses)
            return arrival.reply.passed(forward, by: name)
        case .nobody:
            await store.drop(choice.response, at: key)
            return nil
        }
    }

    private func validationStatus(_ forward: CacheStatus.Forward) -> CacheStatus {
        var status = CacheStatus()
        status.forward = forward
        status.forwardStatus = 304
        return status
    }

    /// Stores what a response with status 304 says, and returns the stored response with it.
    private func renewed(
        _ stored: StoredResponse,
        by arrival: Arrival
    ) async -> StoredResponse {
        let fresh = freshened(stored, by: arrival)
        await store.update(fresh, at: key, since: arrival.mark, lifetime: lifetime(of: fresh))
        return fresh
    }

    // MARK: Many at once

    /// What calls that could share a revalidation have in common; nil for one that cannot.
    ///
    /// A stream cannot be shared. A call that asks for the origin's own word gets it for itself.
    func flightKey(_ choice: CacheDecision.Choice) -> ValidationFlight.Key? {
        guard let collection = call.collection, call.options.coalesces, !conditions.isPresent,
            question.fields[.range] == nil, !question.directives.demandsFreshness,
            question.policy.reads == .fresh
        else { return nil }
        return ValidationFlight.Key(
            subject: ValidationFlight.Subject(list: key.list, body: choice.response.body),
            collection: collection
        )
    }

    /// Waits for the revalidation of a stored response, starting it where none is under way.
    func joined(
        _ choice: CacheDecision.Choice,
        _ body: CacheBody,
        _ forward: CacheStatus.Forward,
        _ flights: SingleFlight<ValidationFlight.Key, ValidationFlight.Outcome>,
        _ key: ValidationFlight.Key
    ) async throws(TransportError) -> HTTPReply {
        var shared = call
        // Each caller has a limit of its own; the first one's must not bind the others.
        shared.deadline = nil
        let leader = CacheExchange(self, sending: shared)
        var isFollower = false
        let outcome: ValidationFlight.Outcome
        do {
            outcome = try await flights.run(
                key,
                onJoin: { isFollower = true },
                operation: { try await leader.flight(choice, forward, key.collection) }
            )
        } catch {
            let failure = (error as? TransportError) ?? TransportError(.cancelled)
            return try await standIn(choice, for: failure)
        }
        if isFollower { store.counts.add(\.sharedRevalidations) }
        switch outcome {
        case .stored(let fresh):
            var status = validationStatus(forward)
            status.isCollapsed = isFollower
            return reply(fresh, body, .revalidated, status)
        case .replied(let reply, let bytes, let isForAll):
            guard !isFollower || isForAll else {
                return try await fetched(.stale, fallback: choice)
            }
            return try await taken(reply, bytes, choice, isFollower)
        }
    }

    /// Takes part in a reply that was read for several calls.
    private func taken(
        _ reply: HTTPReply,
        _ bytes: [UInt8],
        _ choice: CacheDecision.Choice,
        _ isFollower: Bool
    ) async throws(TransportError) -> HTTPReply {
        if CacheRules.errorStatuses.contains(reply.head.status.code),
            let reason = rules.standIn(choice, for: .status, question),
            let stale = await served(
                choice,
                .stale(reason),
                forwardStatus: reply.head.status.code
            )
        {
            return stale
        }
        // What the new response depends on may differ between the calls that wait for it.
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
        var conditional = call
        conditional.head.headerFields = Validation.conditional(
            question.fields,
            for: choice.response
        )
        var arrival = try await send(conditional)
        if arrival.reply.head.status == .notModified {
            if arrival.isOwners {
                let subject = Validation.subject(
                    of: arrival.reply.head.headerFields,
                    stored: choice.response,
                    client: question.fields
                )
                if subject == .stored {
                    return .stored(await renewed(choice.response, by: arrival))
                }
                await store.drop(choice.response, at: key)
            }
            arrival = try await send(call)
        }
        let reply = await kept(arrival, forward)
        let bytes = try await collection.bytes(of: reply, to: call.head.method)
        return .replied(reply, bytes, isForAll: arrival.isOwners)
    }

    // MARK: In the background

    /// Renews a stored response for the next caller.
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

    /// The exchange that renews a stored response, without what concerns the caller alone.
    private func quiet(about stored: StoredResponse) -> CacheExchange {
        var quiet = call
        quiet.deadline = nil
        // The caller's call is over by then; nobody waits for more of it.
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

    /// Asks the origin about a stored response, and stores its answer; nobody waits for it.
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
            // The stored response stays as it is: the next caller tries again.
        }
    }

    /// Fields that concern what the caller holds or wants, not the resource.
    private static let callerFields: [HTTPField.Name] = [
        .ifNoneMatch, .ifModifiedSince, .ifRange, .range, .cacheControl, .pragma,
    ]
}

extension CacheExchange {
    /// The same exchange with another call to send.
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
