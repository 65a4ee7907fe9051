import HTTPTypes

/// The part of a streamed exchange that the total timeout covers.
public enum StreamTimeoutScope: Sendable, Hashable {
    /// From the start of the call to the response head.
    case head
    /// From the start of the call to the last byte of the body.
    case wholeResponse
}

extension NetworkClient {
    /// Calls an endpoint and returns its body as a stream.
    ///
    /// ``Configuration/idleTimeout`` limits each wait for more bytes, and `scope` selects what the total timeout
    /// covers. The size is not limited. Dropping the body unread cancels the exchange.
    ///
    /// - Throws: ``NetworkError``, also for a status outside 200 to 299. The body itself fails with ``TransportError``.
    public func stream(
        _ endpoint: some ServiceEndpoint,
        timeoutCovers scope: StreamTimeoutScope = .head,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> HTTPReply {
        let plan = RequestPlan(endpoint, timeout, options)
        return try await streamed(plan, scope)
    }

    /// Calls an endpoint and reads its response as server-sent events.
    ///
    /// The sequence ends when the server closes the stream, and fails if the server sends nothing for
    /// ``Configuration/idleTimeout`` or exceeds `limits`. To reconnect automatically, use ``eventStream(_:policy:)``.
    ///
    /// - Throws: ``NetworkError``; ``NetworkError/Code/invalidResponse`` if the response is not of type
    ///   `text/event-stream`.
    public func events(
        _ endpoint: some ServiceEndpoint,
        limits: ServerSentEventLimits = ServerSentEventLimits()
    ) async throws(NetworkError) -> ServerSentEvents {
        try await events(of: RequestPlan(endpoint), limits)
    }

    func streamed(
        _ plan: RequestPlan,
        _ scope: StreamTimeoutScope
    ) async throws(NetworkError) -> HTTPReply {
        try await opened(plan, scope, idle: configuration.idleTimeout).reply
    }

    func events(
        of plan: RequestPlan,
        _ limits: ServerSentEventLimits
    ) async throws(NetworkError) -> ServerSentEvents {
        var plan = plan
        if plan.headers[.accept] == nil { plan.headers[.accept] = "text/event-stream" }
        let reply = try await opened(plan, .head, idle: configuration.idleTimeout).reply
        guard reply.isEventStream else { throw NetworkError.noEventStream(reply.head) }
        return reply.body.serverSentEvents(limits: limits)
    }

    @concurrent
    func opened(
        _ plan: RequestPlan,
        _ scope: StreamTimeoutScope,
        idle: Duration?
    ) async throws(NetworkError) -> (call: HTTPCall, reply: HTTPReply) {
        var prepared = try plan.call(for: self)
        prepared.timeouts.idle = idle
        prepared.deadline = deadline(for: prepared, plan)
        let call = prepared
        let deadline = call.deadline
        let opening: Opening
        do throws(TransportError) {
            opening = try await within(deadline, call) { () async throws(TransportError) in
                try await self.opening(of: call, plan)
            }
        } catch {
            let located = error.located(in: call)
            call.record(.failed(located))
            throw NetworkError(located)
        }
        switch opening {
        case .refused(let refusal):
            call.record(.succeeded(status: refusal.status?.code ?? 0))
            throw refusal
        case .accepted(var reply):
            call.record(.succeeded(status: reply.head.status.code))
            if scope == .wholeResponse {
                reply.body = reply.body.mapReads { read async throws(TransportError) in
                    try await within(deadline, call, read)
                }
            }
            return (call, reply)
        }
    }

    private enum Opening: Sendable {
        case accepted(HTTPReply)
        case refused(NetworkError)
    }

    private func opening(
        of call: HTTPCall,
        _ plan: RequestPlan
    ) async throws(TransportError) -> Opening {
        let reply = try await carryOut(call)
        guard reply.head.status.kind != .successful else { return .accepted(reply) }
        let body = try await reply.body.collectPrefix(configuration.errorBodyLimit)
        let response = NetworkResponse(head: reply.head, body: body)
        guard let refusal = refusal(of: response, call, plan) else { return .accepted(reply) }
        return .refused(refusal)
    }
}
