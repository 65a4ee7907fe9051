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
/// Several services share one transport: ``NetworkClientProvider`` makes their clients from one
/// configuration.
public struct ServiceClient<Service: ServiceEndpoint>: Sendable {
    /// The client that carries the calls out.
    public let client: NetworkClient

    /// Which types the bodies of refusing responses are read as, unless an endpoint says otherwise.
    public let failures: [FailureBody]

    /// Creates the service's client.
    ///
    /// - Parameters:
    ///   - client: The client that carries the calls out.
    ///   - failures: Which types the bodies of refusing responses are read as.
    public init(_ client: NetworkClient, failures: [FailureBody] = []) {
        self.client = client
        self.failures = failures
    }

    /// Calls an operation and decodes what it returns.
    ///
    /// - Throws: ``NetworkError``.
    public func request<Response: Decodable & Sendable>(
        _ endpoint: Service,
        as type: Response.Type,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> Response {
        try await client.value(of: plan(endpoint, timeout, options), as: type)
    }

    /// Calls an operation whose answer has no body of interest.
    ///
    /// - Throws: ``NetworkError``.
    public func request(
        _ endpoint: Service,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) {
        _ = try await client.value(of: plan(endpoint, timeout, options), as: EmptyResponse.self)
    }

    /// Calls an operation and leaves the status and the body to the caller.
    public func response(
        to endpoint: Service,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async -> Result<NetworkResponse, TransportError> {
        await client.result(of: plan(endpoint, timeout, options))
    }

    /// Sends a body, such as a file or a form with files, and decodes what the operation returns.
    ///
    /// See ``NetworkClient/upload(_:to:as:observer:timeout:options:)``.
    ///
    /// - Throws: ``NetworkError``.
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

    /// Calls an operation and writes its response to a file, as it arrives.
    ///
    /// See ``NetworkClient/download(from:to:observer:timeout:options:)``.
    ///
    /// - Returns: The head of the response.
    /// - Throws: ``NetworkError``.
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

    private func plan(
        _ endpoint: Service,
        _ timeout: Duration?,
        _ options: HTTPCallOptions
    ) -> RequestPlan {
        var plan = RequestPlan(endpoint, CallWishes(timeout: timeout, options: options))
        plan.failures += failures
        return plan
    }
}
