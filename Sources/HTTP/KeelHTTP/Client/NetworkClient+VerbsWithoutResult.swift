import HTTPTypes

extension NetworkClient {
    /// Sends a value in the client's coding as a `POST`.
    ///
    /// - Throws: ``NetworkError``, also for a status outside 200 to 299.
    public func post(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: some Encodable & Sendable,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) {
        _ = try await send(EmptyResponse.self, .post, path, query, .value(body), timeout, options)
    }

    /// Sends a body, or none, as a `POST`.
    ///
    /// - Throws: ``NetworkError``, also for a status outside 200 to 299.
    public func post(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: RequestBody? = nil,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) {
        _ = try await send(EmptyResponse.self, .post, path, query, body, timeout, options)
    }

    /// Sends a value in the client's coding as a `PUT`.
    ///
    /// - Throws: ``NetworkError``, also for a status outside 200 to 299.
    public func put(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: some Encodable & Sendable,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) {
        _ = try await send(EmptyResponse.self, .put, path, query, .value(body), timeout, options)
    }

    /// Sends a body, or none, as a `PUT`.
    ///
    /// - Throws: ``NetworkError``, also for a status outside 200 to 299.
    public func put(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: RequestBody? = nil,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) {
        _ = try await send(EmptyResponse.self, .put, path, query, body, timeout, options)
    }

    /// Sends a value in the client's coding as a `PATCH`.
    ///
    /// - Throws: ``NetworkError``, also for a status outside 200 to 299.
    public func patch(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: some Encodable & Sendable,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) {
        _ = try await send(EmptyResponse.self, .patch, path, query, .value(body), timeout, options)
    }

    /// Sends a body, or none, as a `PATCH`.
    ///
    /// - Throws: ``NetworkError``, also for a status outside 200 to 299.
    public func patch(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: RequestBody? = nil,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) {
        _ = try await send(EmptyResponse.self, .patch, path, query, body, timeout, options)
    }
}
