import HTTPTypes

/// The layer that repeats a request which found its idle connection closed.
///
/// It is next to the transport, so that the layers of the attempt see one exchange.
struct StaleConnectionMiddleware: HTTPMiddleware, DeadlineEnforcing {
    private let policy: HTTPRetryPolicy

    init(_ policy: HTTPRetryPolicy) { self.policy = policy }

    func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        let mayHaveArrived: Bool
        do throws(TransportError) {
            return try await next(call)
        } catch {
            guard error.code == .staleConnection, call.isReplayable, !Task.isCancelled,
                (call.options.retry ?? policy).replacesStaleConnections,
                call.isIdempotent || error.processed == .no || error.bytesSent == 0
            else { throw error }
            mayHaveArrived = error.processed != .no && error.bytesSent != 0
            call.record(.retrying(after: .zero, reason: error.code.name))
        }
        var again = call
        again.options.prefersNewConnection = true
        var reply = try await next(again)
        if mayHaveArrived { reply.notes.attempt = call.attempt + 1 }
        return reply
    }
}
