/// The layer that ends long uploads that have stalled.
///
/// It is next to the transport, where an exchange begins: a call that waits in a higher layer, for a token or for a
/// place, has not begun, and the body of one that waits for a connection has not been opened.
struct StallTimeoutMiddleware: HTTPMiddleware, DeadlineEnforcing {
    let clock: any Clock<Duration>

    func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        guard let limit = call.options.stallTimeout else { return try await next(call) }
        let body = call.body.flatMap { $0.bytes == nil ? $0 : nil }
        let watch = StallWatch(limit: limit, waitsForBody: body != nil)
        var watched = call
        if let body { watched.body = body.observed(by: watch.observer) }
        let exchange = watched
        var reply = try await watch.guarding(clock) { () async throws(TransportError) in
            try await next(exchange)
        }
        watch.answered()
        reply.body = reply.body.mapReads { [clock] read async throws(TransportError) in
            try await watch.guarding(clock, read)
        }
        return reply
    }
}
