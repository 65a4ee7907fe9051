import HTTPTypes

/// Calls without an endpoint type: handy for small services and scripts.
///
/// Each takes a total time for the call; nil uses the client's. All throw ``NetworkError``.
extension NetworkClient {
    /// Gets what is at the path.
    public func get<Response: Decodable & Sendable>(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        as type: Response.Type = Response.self,
        timeout: Duration? = nil
    ) async throws(NetworkError) -> Response {
        var plan = RequestPlan(.get, path, timeout: timeout)
        plan.query = query
        return try await value(of: plan, as: type)
    }

    /// Sends a value as JSON with the method `POST`.
    public func post<Response: Decodable & Sendable>(
        _ path: EndpointPath,
        body: some Encodable & Sendable,
        as type: Response.Type = Response.self,
        timeout: Duration? = nil
    ) async throws(NetworkError) -> Response {
        var plan = RequestPlan(.post, path, timeout: timeout)
        plan.body = .json(body)
        return try await value(of: plan, as: type)
    }

    /// Sends a value as JSON with the method `PUT`.
    public func put<Response: Decodable & Sendable>(
        _ path: EndpointPath,
        body: some Encodable & Sendable,
        as type: Response.Type = Response.self,
        timeout: Duration? = nil
    ) async throws(NetworkError) -> Response {
        var plan = RequestPlan(.put, path, timeout: timeout)
        plan.body = .json(body)
        return try await value(of: plan, as: type)
    }

    /// Sends a value as JSON with the method `PATCH`.
    public func patch<Response: Decodable & Sendable>(
        _ path: EndpointPath,
        body: some Encodable & Sendable,
        as type: Response.Type = Response.self,
        timeout: Duration? = nil
    ) async throws(NetworkError) -> Response {
        var plan = RequestPlan(.patch, path, timeout: timeout)
        plan.body = .json(body)
        return try await value(of: plan, as: type)
    }

    /// Deletes what is at the path; a body in the answer is not looked at.
    public func delete(
        _ path: EndpointPath,
        timeout: Duration? = nil
    ) async throws(NetworkError) {
        let plan = RequestPlan(.delete, path, timeout: timeout)
        _ = try await value(of: plan, as: EmptyResponse.self)
    }
}
