public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The operations of one service, called through a client.
///
/// ```swift
/// let auth = ServiceClient<AuthEndpoint>(client)
/// let token = try await auth.request(.login(credentials), as: Token.self)
/// ```
///
/// Its methods behave as those of ``NetworkClient``. ``NetworkClientProvider`` creates the clients of several services.
public struct ServiceClient<Service: ServiceEndpoint>: Sendable {
    /// The client that carries out the calls.
    public let client: NetworkClient

    /// The types that the bodies of error responses are decoded as, after the endpoint's own.
    public let errorBodies: [ErrorBody]

    /// Creates the client of a service, with the types of its error bodies.
    public init(_ client: NetworkClient, errorBodies: [ErrorBody] = []) {
        self.client = client
        self.errorBodies = errorBodies
    }

    /// Calls an operation and decodes its response.
    public func request<Response: Decodable & Sendable>(
        _ endpoint: Service,
        as type: Response.Type,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> Response {
        try await client.value(of: plan(endpoint, timeout, options), as: type)
    }

    /// Calls an operation and ignores the body of its response.
    public func request(
        _ endpoint: Service,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) {
        _ = try await client.value(of: plan(endpoint, timeout, options), as: EmptyResponse.self)
    }

    /// Calls an operation and returns its complete response, whatever the status.
    public func response(
        to endpoint: Service,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async -> Result<NetworkResponse, TransportError> {
        await client.result(of: plan(endpoint, timeout, options))
    }

    /// Sends a body, such as a file or a form with files, and decodes the operation's response.
    ///
    /// See ``NetworkClient/upload(_:to:as:observer:timeout:options:)``.
    public func upload<Response: Decodable & Sendable>(
        _ body: RequestBody,
        to endpoint: Service,
        as type: Response.Type,
        observer: TransferObserver? = nil,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> Response {
        let plan = plan(endpoint, timeout, options).uploading(body, observer)
        return try await client.uploaded(plan, as: type)
    }

    /// Calls an operation and returns the bytes of its response.
    ///
    /// See ``NetworkClient/download(from:observer:timeout:options:)``.
    public func download(
        from endpoint: Service,
        observer: TransferObserver? = nil,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> Data {
        var plan = plan(endpoint, timeout, options)
        plan.downloadObserver = observer
        return try await client.bytes(of: plan)
    }

    /// Calls an operation, writes its response to a file as it arrives, and returns the response head.
    ///
    /// See ``NetworkClient/download(from:to:observer:timeout:options:)``.
    @discardableResult
    public func download(
        from endpoint: Service,
        to file: URL,
        observer: TransferObserver? = nil,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> HTTPResponse {
        var plan = plan(endpoint, timeout, options)
        plan.downloadObserver = observer
        return try await client.written(plan, file)
    }

    /// Calls an operation and returns its body as a stream.
    ///
    /// See ``NetworkClient/stream(_:timeoutCovers:timeout:options:)``.
    public func stream(
        _ endpoint: Service,
        timeoutCovers scope: StreamTimeoutScope = .head,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> HTTPReply {
        try await client.streamed(plan(endpoint, timeout, options), scope)
    }

    /// Calls an operation and reads its response as server-sent events.
    ///
    /// See ``NetworkClient/events(_:limits:)``.
    public func events(
        _ endpoint: Service,
        limits: ServerSentEventLimits = ServerSentEventLimits()
    ) async throws(NetworkError) -> ServerSentEvents {
        try await client.events(of: plan(endpoint), limits)
    }

    /// Reads an operation's server-sent events and reconnects whenever the stream breaks off.
    ///
    /// See ``NetworkClient/eventStream(_:policy:)``.
    public func eventStream(
        _ endpoint: Service,
        policy: EventStreamPolicy = EventStreamPolicy()
    ) -> EventStream {
        EventStream(client: client, plan: plan(endpoint), policy: policy)
    }

    package func prepared<Response: Decodable & Sendable>(
        _ endpoint: Service,
        as type: Response.Type,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) -> PreparedRequest<Response> {
        PreparedRequest(client, plan(endpoint, timeout, options))
    }

    private func plan(
        _ endpoint: Service,
        _ timeout: Duration? = nil,
        _ options: HTTPCallOptions = HTTPCallOptions()
    ) -> RequestPlan {
        var plan = RequestPlan(endpoint, timeout, options)
        plan.errorBodies += errorBodies
        return plan
    }
}

/// An endpoint's request, read on its caller's actor, that can be sent later and more than once.
package struct PreparedRequest<Response: Decodable & Sendable>: Sendable {
    private let client: NetworkClient
    private let plan: RequestPlan

    init(_ client: NetworkClient, _ plan: RequestPlan) {
        self.client = client
        self.plan = plan
    }

    /// Sends the request with the options adjusted by `change`, and returns the decoded body and the response.
    package func send(
        _ change: (inout HTTPCallOptions) -> Void = { _ in }
    ) async throws(NetworkError) -> (value: Response, response: NetworkResponse) {
        var plan = plan
        change(&plan.options)
        return try await client.answer(to: plan, as: Response.self)
    }
}

extension NetworkClient {
    package func prepared<E: Endpoint>(
        _ endpoint: E,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) -> PreparedRequest<E.Response> {
        PreparedRequest(self, RequestPlan(endpoint, timeout, options))
    }
}
