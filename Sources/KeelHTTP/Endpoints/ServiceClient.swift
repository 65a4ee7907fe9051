/// The operations of one service, called through a client.
///
/// ```swift
/// let auth = ServiceClient<AuthEndpoint>(client)
/// let token = try await auth.request(.login(credentials), as: Token.self)
/// ```
///
/// Several services share one transport: give each a ``NetworkClient`` with its own configuration
/// over the same transport.
public struct ServiceClient<Service: ServiceEndpoint>: Sendable {
    /// The client that carries the calls out.
    public let client: NetworkClient

    /// Creates the service's client.
    public init(_ client: NetworkClient) {
        self.client = client
    }

    /// Calls an operation and decodes what it returns.
    ///
    /// - Throws: ``NetworkError``.
    public func request<Response: Decodable & Sendable>(
        _ endpoint: Service,
        as type: Response.Type
    ) async throws(NetworkError) -> Response {
        try await client.request(endpoint, as: type)
    }

    /// Calls an operation whose answer has no body of interest.
    ///
    /// - Throws: ``NetworkError``.
    public func request(_ endpoint: Service) async throws(NetworkError) {
        _ = try await client.request(endpoint, as: EmptyResponse.self)
    }

    /// Calls an operation and leaves the status and the body to the caller.
    public func response(
        to endpoint: Service
    ) async -> Result<NetworkResponse, TransportError> {
        await client.response(to: endpoint)
    }
}
