public import HTTPTypes

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A layer that adds an `Idempotency-Key` to calls, so that a server can distinguish a repetition from a new request.
///
/// The key makes calls repeatable: use it only with servers that honor the field
/// (draft-ietf-httpapi-idempotency-key-header). An endpoint's own key is kept.
///
/// Place it in ``NetworkClient/Configuration/middleware``, where all attempts and redirects of a call get the same key.
public struct IdempotencyKeyMiddleware: HTTPMiddleware, DeadlineEnforcing {
    private let methods: Set<HTTPRequest.Method>
    private let makeKey: @Sendable () -> String

    /// Creates the layer for calls with these methods; each result of `makeKey` must be unique.
    public init(
        methods: Set<HTTPRequest.Method> = [.post, .patch],
        makeKey: @escaping @Sendable () -> String = Self.randomKey
    ) {
        self.methods = methods
        self.makeKey = makeKey
    }

    /// Returns a random UUID as a quoted string, the form that the draft specifies.
    @Sendable
    public static func randomKey() -> String { "\"\(UUID().uuidString.lowercased())\"" }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        guard methods.contains(call.head.method), call.head.headerFields[.idempotencyKey] == nil
        else { return try await next(call) }
        var named = call
        named.head.headerFields[.idempotencyKey] = makeKey()
        return try await next(named)
    }
}

extension HTTPCall {
    /// Whether sending the request twice has the same effect as sending it once.
    ///
    /// By default, this is true for the methods that RFC 9110 section 9.2.2 calls idempotent and for requests with an
    /// `Idempotency-Key`; ``HTTPCallOptions/isIdempotent`` overrides it.
    public var isIdempotent: Bool {
        options.isIdempotent
            ?? (Self.idempotentMethods.contains(head.method) || hasIdempotencyKey)
    }

    var hasIdempotencyKey: Bool { head.headerFields[.idempotencyKey] != nil }

    private static let idempotentMethods: Set<HTTPRequest.Method> = [
        .get, .head, .put, .delete, .options, .trace,
    ]
}

extension HTTPField.Name {
    /// `Idempotency-Key`: a server that supports it acts on each key only once
    /// (draft-ietf-httpapi-idempotency-key-header).
    public static let idempotencyKey = known("Idempotency-Key")
}
