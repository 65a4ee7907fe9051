import HTTPTypes
public import KeelCore
public import KeelHTTP

/// A layer that signs calls with a bearer token (RFC 6750), and gets a new one when the server refuses it.
///
/// ```swift
/// configuration.authorize(with: session)
/// ```
///
/// - Only calls to the allowed origins are signed: a redirect elsewhere carries no token.
/// - A call with its own `Authorization` field, or whose `HTTPCallOptions.authentication` is `none`, is not changed.
/// - After status 401 the call is sent once more with the source's new token, if its body can be sent again. A refusal
///   for missing rights (`insufficient_scope`) is final.
/// - All attempts of a call are sent for one user, that of the first: if another user has signed in since, or if the
///   call has another `HTTPCallOptions.owner`, it fails.
/// - A call that the source itself makes to renew a token passes unsigned. Like the calls of a clean-up, it shares no
///   exchange and no cached response with the calls of the user.
///
/// It belongs to the layers of the attempt, below redirects and retries.
public struct BearerAuthorization<Tokens: TokenSource>: HTTPAuthorizing {
    private let tokens: Tokens
    private let origins: Set<HTTPOrigin>
    private let key = LayerKey()

    /// Creates the layer; only requests to `origins` carry a token.
    public init(_ tokens: Tokens, origins: Set<HTTPOrigin>) {
        self.tokens = tokens
        self.origins = origins
    }

    public var identity: String? {
        get async {
            // A session may wait for this call, which must not wait for a call that waits for the session.
            guard !SessionScope.isCurrent else { return nil }
            return await tokens.identity
        }
    }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        guard call.options.authentication != .none, call.head.headerFields[.authorization] == nil,
            let origin = HTTPOrigin(call.head), origins.contains(origin),
            let token = try await self.token(for: call)
        else { return try await next(call) }
        let reply = try await answer(to: call.signed(with: token), next)
        guard Self.maySignAnew(call, reply.head),
            let fresh = try await self.token(after: token, for: call), !fresh.isSameIssue(as: token)
        else { return reply }
        call.record(.credentialsRenewed)
        return try await next(call.signed(with: fresh))
    }

    /// Sends the call.
    ///
    /// A refusal is read into memory: its exchange may hold a place under a limit that the renewal and the next request
    /// need.
    private func answer(
        to call: HTTPCall,
        _ next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        let reply = try await next(call)
        return Self.maySignAnew(call, reply.head) ? try await reply.detached() : reply
    }

    private static func maySignAnew(_ call: HTTPCall, _ head: HTTPResponse) -> Bool {
        head.status == .unauthorized && call.isReplayable
            && !BearerChallenge.isLackOfScope(head.headerFields)
    }

    private func token(for call: HTTPCall) async throws(TransportError) -> AccessToken? {
        var token: AccessToken?
        do {
            token = try await tokens.token()
        } catch {
            if let problem = failure(error, for: call) {
                // An event stream tries again later, and then still for this user.
                if let reason = problem.cause as? AuthenticationError, reason.isTransient,
                    let name = await tokens.identity
                {
                    _ = call.options.pin?.admits(name, at: key.id)
                }
                throw problem
            }
        }
        try await demandSameUser(call, token)
        return token
    }

    private func demandSameUser(
        _ call: HTTPCall,
        _ token: AccessToken?
    ) async throws(TransportError) {
        let owner = call.options.owner
        var user = token?.origin?.identity
        if user == nil, token != nil || owner != nil { user = await tokens.identity }
        if owner != nil, token != nil, user == nil {
            let reason = AuthenticationError(.userUnknown)
            throw TransportError(.credentialsUnavailable, url: call.redactedURL, cause: reason)
        }
        let isOwners = owner == nil || owner == user
        let isSameUser = call.options.pin?.admits(token == nil ? nil : user, at: key.id) ?? true
        guard isOwners, isSameUser else { throw TransportError.sentForAnotherUser(call) }
    }

    private func token(
        after refused: AccessToken,
        for call: HTTPCall
    ) async throws(TransportError) -> AccessToken? {
        let token: AccessToken
        do {
            token = try await tokens.token(after: refused)
        } catch {
            guard let error = failure(error, for: call) else { return nil }
            throw error
        }
        try await demandSameUser(call, token)
        return token
    }

    private func failure(_ error: any Error, for call: HTTPCall) -> TransportError? {
        let known = error as? AuthenticationError
        let code = known?.code
        if code == .insideRefresh { return nil }
        // No user is signed in, and the call does not require one.
        if let known, call.options.authentication == .optional, !known.isTransient,
            !known.isCancellation
        {
            return nil
        }
        if error is CancellationError || code == .cancelled {
            return TransportError(.cancelled, processed: .no, url: call.redactedURL)
        }
        // The text of another error may quote a token: wrap it in one that is redacted.
        let reason = known ?? AuthenticationError(.refreshFailed, cause: error)
        return TransportError(.credentialsUnavailable, url: call.redactedURL, cause: reason)
    }
}

extension BearerAuthorization: OriginAuthorizing {
    package func signs(_ origin: HTTPOrigin) -> Bool { origins.contains(origin) }
}

/// The identity of a layer, which its copies share.
final class LayerKey: Sendable {
    var id: ObjectIdentifier { ObjectIdentifier(self) }
}

extension TransportError {
    static func sentForAnotherUser(_ call: HTTPCall) -> TransportError {
        let reason = AuthenticationError(.superseded, "The call belongs to another user.")
        return TransportError(.credentialsUnavailable, url: call.redactedURL, cause: reason)
    }
}

extension HTTPCall {
    fileprivate func signed(with token: AccessToken) -> HTTPCall {
        var signed = self
        signed.head.headerFields[.authorization] = "Bearer \(token.value)"
        return signed
    }
}

extension NetworkClient.Configuration {
    /// Signs all calls to the base URL's origin and to the given origins.
    ///
    /// This adds a ``BearerAuthorization`` to `attemptMiddleware`, above all layers except others that add credentials,
    /// so that a concurrency limit does not block the request that renews the token. The layer is lost if you replace
    /// the list afterward.
    public mutating func authorize(
        with tokens: some TokenSource,
        alsoAt origins: Set<HTTPOrigin> = []
    ) {
        let home = HTTPOrigin(baseURL)
        add(BearerAuthorization(tokens, origins: origins.union(home.map { [$0] } ?? [])))
    }

    mutating func add(_ layer: some HTTPAuthorizing) {
        let place = attemptMiddleware.firstIndex { !($0 is any HTTPAuthorizing) }
        attemptMiddleware.insert(layer, at: place ?? attemptMiddleware.endIndex)
    }
}
