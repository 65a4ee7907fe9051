import HTTPTypes

/// Calls without an endpoint type; ``EndpointPath/url(_:)`` calls an absolute URL.
extension NetworkClient {
    /// Sends a `GET` request and decodes the response.
    ///
    /// - Throws: ``NetworkError``, also for a status outside 200 to 299.
    public func get<Response: Decodable & Sendable>(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        as type: Response.Type = Response.self,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> Response {
        try await send(type, .get, path, query, nil, timeout, options)
    }

    /// Sends a value in the client's coding as a `POST` and decodes the response.
    ///
    /// - Throws: ``NetworkError``, also for a status outside 200 to 299.
    public func post<Response: Decodable & Sendable>(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: some Encodable & Sendable,
        as type: Response.Type = Response.self,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> Response {
        try await send(type, .post, path, query, .value(body), timeout, options)
    }

    /// Sends a body as a `POST` and decodes the response.
    ///
    /// - Throws: ``NetworkError``, also for a status outside 200 to 299.
    public func post<Response: Decodable & Sendable>(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: RequestBody,
        as type: Response.Type = Response.self,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> Response {
        try await send(type, .post, path, query, body, timeout, options)
    }

    /// Sends a value in the client's coding as a `PUT` and decodes the response.
    ///
    /// - Throws: ``NetworkError``, also for a status outside 200 to 299.
    public func put<Response: Decodable & Sendable>(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: some Encodable & Sendable,
        as type: Response.Type = Response.self,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> Response {
        try await send(type, .put, path, query, .value(body), timeout, options)
    }

    /// Sends a body as a `PUT` and decodes the response.
    ///
    /// - Throws: ``NetworkError``, also for a status outside 200 to 299.
    public func put<Response: Decodable & Sendable>(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: RequestBody,
        as type: Response.Type = Response.self,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> Response {
        try await send(type, .put, path, query, body, timeout, options)
    }

    /// Sends a value in the client's coding as a `PATCH` and decodes the response.
    ///
    /// - Throws: ``NetworkError``, also for a status outside 200 to 299.
    public func patch<Response: Decodable & Sendable>(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: some Encodable & Sendable,
        as type: Response.Type = Response.self,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> Response {
        try await send(type, .patch, path, query, .value(body), timeout, options)
    }

    /// Sends a body as a `PATCH` and decodes the response.
    ///
    /// - Throws: ``NetworkError``, also for a status outside 200 to 299.
    public func patch<Response: Decodable & Sendable>(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: RequestBody,
        as type: Response.Type = Response.self,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> Response {
        try await send(type, .patch, path, query, body, timeout, options)
    }

    /// Sends a `DELETE` request and decodes the response.
    ///
    /// - Throws: ``NetworkError``, also for a status outside 200 to 299.
    public func delete<Response: Decodable & Sendable>(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        as type: Response.Type = Response.self,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> Response {
        try await send(type, .delete, path, query, nil, timeout, options)
    }

    /// Sends a `DELETE` request and ignores the response body.
    ///
    /// - Throws: ``NetworkError``, also for a status outside 200 to 299.
    public func delete(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) {
        _ = try await send(EmptyResponse.self, .delete, path, query, nil, timeout, options)
    }

    func send<Response: Decodable & Sendable>(
        _ type: Response.Type,
        _ method: HTTPRequest.Method,
        _ path: EndpointPath,
        _ query: HTTPQuery,
        _ body: RequestBody?,
        _ timeout: Duration?,
        _ options: HTTPCallOptions
    ) async throws(NetworkError) -> Response {
        let plan = RequestPlan(method, path, query, body, timeout, options)
        return try await value(of: plan, as: type)
    }
}
