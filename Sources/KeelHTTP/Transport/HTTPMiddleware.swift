import HTTPTypes

/// A layer between the client and the transport.
///
/// A middleware may change the call, answer it without asking further, call `next` several times,
/// or look at the reply. It does one job and keeps its own state safe: it is shared by all calls of
/// a client.
public protocol HTTPMiddleware: Sendable {
    /// Handles one call.
    ///
    /// `call` is as the layers above made it; `next` is the layers below and the transport. A call
    /// whose ``HTTPCall/isReplayable`` is false must be passed on at most once.
    func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply
}

/// The layers below a middleware, ending in the transport.
///
/// It may be kept and called from other tasks, which hedging and coalescing need.
public struct HTTPNext: Sendable {
    private let run: @Sendable (HTTPCall) async throws(TransportError) -> HTTPReply

    /// Creates a chain's end, or a stand-in for one in a test.
    public init(_ run: @escaping @Sendable (HTTPCall) async throws(TransportError) -> HTTPReply) {
        self.run = run
    }

    /// Passes a call on.
    public func callAsFunction(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        try await run(call)
    }
}

extension HTTPTransport {
    /// Returns this transport behind the given layers, the first one outermost.
    public func chain(_ middleware: [any HTTPMiddleware]) -> HTTPNext {
        let transport = HTTPNext { call async throws(TransportError) in
            guard call.options.tellsSentFields else { return try await self.send(call) }
            var reply = try await self.send(call)
            reply.notes.sentFields = call.head.headerFields
            return reply
        }
        return middleware.reversed().reduce(transport) { next, layer in
            HTTPNext { call async throws(TransportError) in
                try await layer.intercept(call, next: next)
            }
        }
    }
}
