public import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Gives calls an `Idempotency-Key`, so that a server can tell a repetition from a second wish.
///
/// The key is the same for all attempts and redirects of a call, which makes the call one that may
/// be repeated: use it only with servers that honour the field
/// (draft-ietf-httpapi-idempotency-key-header). A key that the endpoint gives stays.
///
/// Place it in ``NetworkClient/Configuration/middleware``.
public struct IdempotencyKeyMiddleware: HTTPMiddleware, DeadlineKeeping {
    private let methods: Set<HTTPRequest.Method>
    private let makeKey: @Sendable () -> String

    /// Creates the layer.
    ///
    /// - Parameters:
    ///   - methods: The methods of the calls that get a key.
    ///   - makeKey: Makes a key; it must not give the same one twice.
    public init(
        methods: Set<HTTPRequest.Method> = [.post, .patch],
        makeKey: @escaping @Sendable () -> String = Self.randomKey
    ) {
        self.methods = methods
        self.makeKey = makeKey
    }

    /// A random UUID as a quoted string, the form that the draft asks for.
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
