internal import HTTPTypes
internal import KeelCore
internal import KeelHTTP

/// A transport that signs requests, for streams that bypass `NetworkClient`.
///
/// After a status of 401, it sends the request once more with a new token of the source.
struct SignedTransport: HTTPTransport {
    private let upstream: any HTTPTransport
    private let tokens: any TokenSource

    init(_ upstream: any HTTPTransport, tokens: any TokenSource) {
        self.upstream = upstream
        self.tokens = tokens
    }

    var features: HTTPTransportFeatures { upstream.features }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let token = try await Self.token { try await tokens.token() }
        let reply = try await upstream.send(Self.signed(call, token))
        guard reply.head.status == .unauthorized, call.isReplayable else { return reply }
        let next = try await Self.token { try await tokens.token(after: token) }
        guard next.value != token.value else { return reply }
        return try await upstream.send(Self.signed(call, next))
    }

    func shutdown() async { await upstream.shutdown() }

    private static func signed(_ call: HTTPCall, _ token: AccessToken) -> HTTPCall {
        var call = call
        call.head.headerFields[.authorization] = "Bearer \(token.value)"
        return call
    }

    private static func token(
        _ fetch: () async throws -> AccessToken
    ) async throws(TransportError) -> AccessToken {
        do {
            return try await fetch()
        } catch {
            throw TransportError(.credentialsUnavailable, cause: error)
        }
    }
}
