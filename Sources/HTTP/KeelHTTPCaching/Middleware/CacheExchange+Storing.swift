import HTTPTypes
import KeelCache
import KeelHTTP

extension CacheExchange {
    /// Returns the origin's reply, which is stored while its body is read.
    func kept(
        _ arrival: Arrival,
        _ forward: CacheStatus.Forward,
        countsAsMiss: Bool = true
    ) async -> HTTPReply {
        if countsAsMiss { store.counts.add(\.misses) }
        guard arrival.isOwners else { return arrival.reply.passed(forward, by: name) }
        var arrival = arrival
        guard let response = stored(arrival),
            arrival.reply.announcedLength.map({ $0 <= Int64(limits.total) }) ?? true
        else {
            await forgetOlder(than: arrival)
            return arrival.reply.passed(forward, by: name)
        }
        let fields = arrival.reply.head.headerFields
        let lifetime = FreshnessLifetime(
            status: response.status.code,
            fields: fields,
            directives: ResponseDirectives(fields, rules),
            received: response.received,
            rules: rules
        ).seconds
        let storing = StoringBody(
            response: response,
            announced: announcedLength(of: arrival.reply),
            recorder: BodyRecorder(limits) { [store] in await store.makeFile() },
            counts: store.counts
        ) { [store, key, mark = arrival.mark] response, body in
            await store.save(response, body, at: key, since: mark, lifetime: lifetime)
        }
        if let bytes = arrival.reply.body.collected {
            await storing.add(bytes[...])
            await storing.end()
        } else if Self.hasNoBody(response.status.code) {
            await storing.end()
        } else {
            arrival.reply.body = arrival.reply.body.mapReads { read async throws(TransportError) in
                try await storing.pass(read)
            }
        }
        return arrival.reply.passed(forward, by: name, isStored: true)
    }

    /// Returns the response to store, without its length, or nil if it must not be stored.
    private func stored(_ arrival: Arrival) -> StoredResponse? {
        let head = arrival.reply.head
        let storable = Storability.allows(
            Storability.Exchange(
                request: signedFields(arrival.reply),
                requestDirectives: question.directives,
                response: head,
                received: arrival.received
            ),
            rules
        )
        guard question.policy.stores, storable, !arrival.reply.notes.isTruncated,
            let selectors = selectors(of: head.headerFields, arrival)
        else { return nil }
        return StoredResponse(
            status: head.status,
            fields: Storability.storedFields(head.headerFields, rules),
            selectors: selectors,
            requested: arrival.requested,
            received: arrival.received,
            body: store.makeBodyID(),
            length: 0,
            part: head.status.code == 206 ? .init(head.headerFields) : nil,
            groups: CacheGroups.membership(head.headerFields)
        ).dated()
    }

    /// Drops stored responses that a newer, unstored response supersedes, so that they are not used
    /// although the origin has replaced them.
    private func forgetOlder(than arrival: Arrival) async {
        let status = arrival.reply.head.status
        let isWord = status.kind == .successful || [404, 410].contains(status.code)
        guard call.head.method == .get, isWord, status != .partialContent,
            question.policy.stores
        else { return }
        for stored in await store.responses(at: key)
        where VaryMatch.matches(stored, question.fields) {
            await store.drop(stored, at: key)
        }
    }

    /// Returns the request's fields, with a mark if a lower layer added credentials.
    private func signedFields(_ reply: HTTPReply) -> HTTPFields {
        var fields = question.fields
        if call.actingSigner != nil || reply.notes.sentFields?[.authorization] != nil {
            fields[.authorization] = "signed"
        }
        return fields
    }

    private func announcedLength(of reply: HTTPReply) -> Int64? {
        guard let length = reply.announcedLength else { return nil }
        // A layer that decoded the body may have left the encoded length.
        return reply.head.headerFields[.contentEncoding] == nil ? length : nil
    }

    private static func hasNoBody(_ status: Int) -> Bool { status == 204 || status == 205 }

    /// Updates stored responses from the response to a `HEAD` request (RFC 9111 section 4.3.5).
    func learn(from arrival: Arrival) async {
        let head = arrival.reply.head
        guard head.status.code == 200, arrival.isOwners else { return }
        for stored in await store.responses(at: key)
        where stored.part == nil && stored.status.code == 200
            && VaryMatch.matches(stored, question.fields)
        {
            if Validation.describes(head.headerFields, stored) {
                _ = await renewed(stored, by: arrival)
            } else {
                var outdated = stored
                outdated.isOutdated = true
                await update(outdated, by: arrival)
            }
        }
    }

    /// Stores the update of a stored response from a message about the same state, and returns the updated response.
    ///
    /// A message may bring another `Vary`: the response is dropped if no later request can match it.
    func renewed(_ stored: StoredResponse, by arrival: Arrival) async -> StoredResponse {
        var fresh = Validation.freshened(
            stored,
            with: arrival.reply.head.headerFields,
            requested: arrival.requested,
            received: arrival.received,
            rules
        )
        if fresh.fields[values: .vary] != stored.fields[values: .vary] {
            guard let selectors = selectors(of: fresh.fields, arrival) else {
                await store.drop(stored, at: key)
                return fresh
            }
            fresh.selectors = selectors.map { selector in
                stored.selectors.first { $0.name == selector.name } ?? selector
            }
        }
        await update(fresh, by: arrival)
        return fresh
    }

    private func update(_ response: StoredResponse, by arrival: Arrival) async {
        await store.update(
            response,
            at: key,
            since: arrival.mark,
            lifetime: lifetime(of: response)
        )
    }

    /// Returns the values of the call's fields by which a response varies, or nil if no later request can match it.
    private func selectors(
        of fields: HTTPFields,
        _ arrival: Arrival
    ) -> [StoredResponse.Selector]? {
        guard !VaryMatch.isNeverMatched(fields) else { return nil }
        return VaryMatch.selectors(
            of: fields,
            from: question.fields,
            sent: arrival.reply.notes.sentFields,
            coversAuthorization: owner.coversAuthorization,
            mayGetCookies: call.actingSigner?.addsCookies ?? false
        )
    }

    private func lifetime(of response: StoredResponse) -> Int64 {
        let directives = ResponseDirectives(response.fields, rules)
        return Freshness(response, directives, at: store.clock.now, rules).lifetime
    }
}
