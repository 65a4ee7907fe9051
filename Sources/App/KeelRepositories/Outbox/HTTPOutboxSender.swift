internal import HTTPTypes
internal import KeelCore
public import KeelHTTP
public import KeelSync

/// Sends the writes of an outbox to a web service.
///
/// ```swift
/// try await outbox.run(sending: HTTPOutboxSender(client), whileOnline: network.onlineStates)
/// ```
///
/// Each request has an `Idempotency-Key`, the same in all attempts (draft-ietf-httpapi-idempotency-key-header), so the
/// client can retry it, too.
///
/// | response | meaning |
/// |---|---|
/// | status 200 to 299; 404 and 410 to `DELETE` | accepted |
/// | 408, 425, 429, 500, 502, 503, 504 | failed, with the delay of `Retry-After` |
/// | 409 if an earlier attempt may have arrived, which the server may still be processing | failed, likewise |
/// | 401, or unavailable credentials | unreachable: waits for the user to sign in |
/// | another user than the write's owner is signed in | unreachable: waits for the owner |
/// | the write has an owner, and the client's source of tokens does not name its user | rejected |
/// | no connection, or another transient failure before the server can have acted | unreachable |
/// | any other failure of the exchange, such as a broken connection or a timeout | failed |
/// | any other status, or an invalid request | rejected |
///
/// The client's authentication checks the owner for each attempt: see `HTTPCallOptions.owner`. Call `Outbox.retryNow()`
/// when a user has signed in.
public struct HTTPOutboxSender: OutboxSender {
    private let client: NetworkClient
    private let options: HTTPCallOptions

    /// Creates a sender.
    ///
    /// - Parameters:
    ///   - client: The client for the requests. Its retries add to those of the outbox.
    ///   - options: The options of all requests.
    public init(_ client: NetworkClient, options: HTTPCallOptions = HTTPCallOptions()) {
        self.client = client
        self.options = options
    }

    public func send(_ delivery: OutboxDelivery) async -> OutboxVerdict {
        guard let request = OutboxRequest(delivery.write) else {
            return .rejected(reason: "This is not a request that the app can send.")
        }
        let endpoint = KeptEndpoint(request: request, key: delivery.idempotencyKey)
        var options = options
        if let owner = delivery.write.owner { options.owner = owner }
        switch await client.response(to: endpoint, options: options) {
        case .success(let response):
            let isRepeated = delivery.mayHaveArrived || response.notes.attempt > 1
            return Self.verdict(on: response, to: request.method, isRepeated: isRepeated)
        case .failure(let error): return Self.verdict(on: error)
        }
    }

    private static func verdict(
        on response: NetworkResponse,
        to method: HTTPRequest.Method,
        isRepeated: Bool
    ) -> OutboxVerdict {
        let reason = "The service responded with status \(response.status.code)."
        return switch response.status.code {
        case 200...299: .accepted(reply: response.body)
        case 404, 410: method == .delete ? .accepted() : .rejected(reason: reason)
        case 401: .unreachable(reason: reason)
        case 408, 425, 429, 500, 502, 503, 504:
            .failed(reason: reason, after: response.head.retryAfter)
        // A server answers 409 while it processes an earlier request with the same key
        // (draft-ietf-httpapi-idempotency-key-header section 2.7). A rejection would be final, and
        // a user who sends the write again would send it with a new key.
        case 409 where isRepeated: .failed(reason: reason, after: response.head.retryAfter)
        default: .rejected(reason: reason)
        }
    }

    private static func verdict(on error: TransportError) -> OutboxVerdict {
        switch error.code {
        case .invalidRequest: return .rejected(reason: error.message)
        case .credentialsUnavailable:
            // The source never names its user, so a retry cannot succeed.
            if let reason = error.cause as? AuthenticationError, reason.code == .userUnknown {
                return .rejected(reason: reason.message)
            }
            return .unreachable(reason: error.message)
        default: break
        }
        if error.isTransient, error.processed == .no { return .unreachable(reason: error.message) }
        return .failed(reason: error.message)
    }
}

private struct KeptEndpoint: ServiceEndpoint {
    let request: OutboxRequest
    let key: String

    var method: HTTPRequest.Method { request.method }
    var path: EndpointPath { EndpointPath(encodedForm: (request.path, request.query)) }
    var headers: HTTPFields {
        var headers = request.headers
        // A string of RFC 8941, as the draft requires.
        headers[.idempotencyKey] = "\"\(key)\""
        return headers
    }
    var body: RequestBody? {
        guard !request.body.isEmpty || request.headers[.contentType] != nil else { return nil }
        return .bytes(
            request.body,
            contentType: request.headers[.contentType] ?? "application/octet-stream"
        )
    }
}
