import HTTPTypes

/// A layer between the client and the transport.
///
/// A layer can change the call, answer it itself, call `next` several times, or inspect the reply. All calls of a
/// client share it, so it must synchronize its own state.
public protocol HTTPMiddleware: Sendable {
    /// Handles one call; `next` is the layers below and the transport.
    ///
    /// A call whose ``HTTPCall/isReplayable`` is false must be passed on at most once.
    func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply

    /// Whether the layer waits only for `next`; false by default.
    ///
    /// Return true for a layer that, for example, adds a field or inspects the reply, and that never replaces a request
    /// body in memory with one that is produced while it is sent. Waits of such a layer for anything else outlast the
    /// total time of the call.
    ///
    /// A call through a layer that returns false runs in a child task, which is canceled at the end of the total time;
    /// that costs an eighth of the time of a small request.
    var waitsOnlyForNext: Bool { get }
}

extension HTTPMiddleware {
    public var waitsOnlyForNext: Bool { false }
}

/// The layers below a layer, ending in the transport.
///
/// A layer can store it and call it from other tasks, as hedging and coalescing do.
public struct HTTPNext: Sendable {
    private let run: @Sendable (HTTPCall) async throws(TransportError) -> HTTPReply

    /// Creates the end of a chain, or a test double of one.
    public init(_ run: @escaping @Sendable (HTTPCall) async throws(TransportError) -> HTTPReply) {
        self.run = run
    }

    /// Passes a call on.
    public func callAsFunction(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        try await run(call)
    }
}

extension HTTPTransport {
    /// Returns this transport below the given layers, outermost first.
    public func chain(_ middleware: [any HTTPMiddleware]) -> HTTPNext {
        let transport = HTTPNext { call async throws(TransportError) in
            guard call.options.reportsSentFields else { return try await self.send(call) }
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
