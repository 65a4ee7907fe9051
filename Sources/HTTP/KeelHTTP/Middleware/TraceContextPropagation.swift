public import HTTPTypes

/// A layer that adds the W3C trace context to requests, without a tracer in this process.
///
/// A request with a valid `traceparent` gets a child span of it; any other request starts a trace. In
/// ``NetworkClient/Configuration/middleware``, all attempts share one span; if the layer is also in
/// ``NetworkClient/Configuration/attemptMiddleware``, each has its own span within the trace of the call. With a
/// tracer, use the layers of KeelHTTPObservability instead.
public struct TraceContextPropagation: HTTPMiddleware, DeadlineEnforcing {
    private let isSampled: Bool
    private let isTrusted: @Sendable (HTTPRequest) -> Bool

    /// Creates the layer.
    ///
    /// - Parameters:
    ///   - isSampled: Whether traces that start here are marked as sampled.
    ///   - isTrusted: Whether a request may carry the fields; they are removed from other requests.
    public init(
        isSampled: Bool = false,
        isTrusted: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
    ) {
        self.isSampled = isSampled
        self.isTrusted = isTrusted
    }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        var call = call
        guard isTrusted(call.head) else {
            call.head.headerFields[.traceParent] = nil
            call.head.headerFields[.traceState] = nil
            return try await next(call)
        }
        var random = SystemRandomNumberGenerator()
        let context =
            call.head.traceContext?.child(using: &random)
            ?? TraceContext(isSampled: isSampled, using: &random)
        call.head.headerFields[.traceParent] = context.parent
        call.head.headerFields[.traceState] = context.state
        return try await next(call)
    }
}

extension HTTPRequest {
    package var traceContext: TraceContext? {
        let parents = headerFields[values: .traceParent]
        guard parents.count == 1 else { return nil }
        return TraceContext(parent: parents[0], states: headerFields[values: .traceState])
    }
}

extension HTTPField.Name {
    /// `traceparent` (W3C Trace Context).
    public static let traceParent = known("traceparent")

    /// `tracestate` (W3C Trace Context).
    public static let traceState = known("tracestate")
}
