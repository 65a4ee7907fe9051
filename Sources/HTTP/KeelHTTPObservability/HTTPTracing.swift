#if Observability

public import HTTPTypes
public import KeelCore
public import KeelHTTP
internal import Synchronization
public import Tracing

/// A middleware that creates a span for each call or each request sent, and propagates its context.
///
/// ```swift
/// configuration.middleware.insert(HTTPTracing(.call), at: 0)
/// configuration.attemptMiddleware.append(HTTPTracing(.attempt))
/// ```
///
/// The span of a call covers its attempts and pauses. The spans of attempts are its children, of the kind `client`; the
/// tracer writes their context into the request, usually as `traceparent` and `tracestate` (W3C Trace Context). Both
/// last until the end of the body, a failure, or the release of the reply. Names and attributes follow OpenTelemetry's
/// semantic conventions for HTTP client spans; URLs lose their query, and errors are recorded by their code.
public struct HTTPTracing: HTTPMiddleware, DeadlineEnforcing {
    /// The unit that a span covers.
    public enum Scope: Sendable, Hashable {
        /// The whole call; place the middleware outermost.
        case call
        /// One request; place the middleware innermost.
        case attempt
    }

    private let scope: Scope
    private let tracer: (any Tracer)?
    private let redactor: Redactor
    private let isTrusted: @Sendable (HTTPRequest) -> Bool

    /// Creates the middleware.
    ///
    /// - Parameters:
    ///   - scope: The unit that a span covers.
    ///   - tracer: The tracer; nil is the current tracer at each call.
    ///   - redactor: Removes secrets from URLs.
    ///   - isTrusted: Returns whether a request may carry the trace context.
    public init(
        _ scope: Scope,
        tracer: (any Tracer)? = nil,
        redactor: Redactor = .standard,
        isTrusted: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
    ) {
        self.scope = scope
        self.tracer = tracer
        self.redactor = redactor
        self.isTrusted = isTrusted
    }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        let tracer: any Tracer = tracer ?? InstrumentationSystem.tracer
        let method = call.head.method.boundedName
        let name = method == "_OTHER" ? "HTTP" : method
        let span = OpenSpan(
            tracer.startAnySpan(
                scope == .call ? "call \(name)" : name,
                ofKind: scope == .call ? .internal : .client
            )
        )
        span.describe(call, redactor: redactor, isAttempt: scope == .attempt)
        var call = call
        if scope == .attempt, isTrusted(call.head) {
            tracer.inject(
                span.context,
                into: &call.head.headerFields,
                using: HTTPFieldsInjector()
            )
        }
        let traced = call
        // Task-local values rethrow untyped; a result preserves the type.
        let result = await InstrumentationContext.withValue(span.context) {
            do throws(TransportError) {
                return Result<HTTPReply, TransportError>.success(try await next(traced))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(var reply):
            span.describe(reply)
            reply.body = reply.body.mapReads { read async throws(TransportError) in
                do throws(TransportError) {
                    let piece = try await read()
                    span.count(piece)
                    return piece
                } catch {
                    span.fail(error)
                    throw error
                }
            }
            return reply
        case .failure(let error):
            span.fail(error)
            throw error
        }
    }
}

/// An injector that writes a trace context into header fields.
public struct HTTPFieldsInjector: Injector {
    /// Creates an injector.
    public init() {}

    public func inject(_ value: String, forKey key: String, into fields: inout HTTPFields) {
        guard let name = HTTPField.Name(key) else { return }
        fields[name] = value
    }
}

private final class OpenSpan: Sendable {
    private let span: any Span
    private let state = Mutex<(bytes: Int64, hasEnded: Bool)>((0, false))

    init(_ span: any Span) { self.span = span }

    deinit { end() }

    var context: InstrumentationContext { span.context }

    func describe(_ call: HTTPCall, redactor: Redactor, isAttempt: Bool) {
        let authority = String((call.head.authority ?? "").split(separator: "@").last ?? "")
        let server = ServerAddress(authority)
        let isSecure = call.head.scheme == "https"
        var attributes = SpanAttributes()
        let method = call.head.method.boundedName
        attributes["http.request.method"] = method
        if method == "_OTHER" {
            attributes["http.request.method_original"] = call.head.method.rawValue
        }
        attributes["url.full"] = redactor.redactURL(call.redactedURL)
        attributes["server.address"] = server.host
        attributes["server.port"] = server.port.flatMap { Int($0) } ?? (isSecure ? 443 : 80)
        if isAttempt, call.attempt > 1 {
            attributes["http.request.resend_count"] = call.attempt - 1
        }
        if let size = call.body?.length { attributes["http.request.body.size"] = Int(size) }
        attributes["keel.http.call"] = call.id.description
        span.attributes.merge(attributes)
    }

    func describe(_ reply: HTTPReply) {
        var attributes = SpanAttributes()
        let status = reply.head.status.code
        attributes["http.response.status_code"] = status
        if let version = reply.connection?.version {
            attributes["network.protocol.version"] = HTTPMetrics.number(of: version)
        }
        if let address = reply.connection?.remoteAddress {
            attributes["network.peer.address"] = address
        }
        if status >= 400 {
            attributes["error.type"] = "\(status)"
            span.setStatus(SpanStatus(code: .error))
        }
        span.attributes.merge(attributes)
    }

    func count(_ piece: ArraySlice<UInt8>?) {
        guard let piece else { return end() }
        state.withLock { $0.bytes += Int64(piece.count) }
    }

    func fail(_ error: TransportError) {
        guard !state.withLock({ $0.hasEnded }) else { return }
        span.attributes["error.type"] = error.code.name
        // The message may name an address, and the cause is foreign text.
        span.recordError(TransportError(error.code, phase: error.phase, processed: error.processed))
        span.setStatus(SpanStatus(code: .error, message: error.code.name))
        end()
    }

    private func end() {
        let bytes = state.withLock { state -> Int64? in
            guard !state.hasEnded else { return nil }
            state.hasEnded = true
            return state.bytes
        }
        guard let bytes else { return }
        if bytes > 0 { span.attributes["http.response.body.size"] = Int(bytes) }
        span.end()
    }
}

#endif
