import HTTPTypes

/// Verbs without a result: the status must be from 200 to 299, and the response body is ignored.
extension NetworkClient {
    /// Sends a value in the client's coding, usually JSON, with the method `POST`.
    ///
    /// - Throws: ``NetworkError``, including for a status outside 200 to 299.
    public func post(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: some Encodable & Sendable,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) {
        _ = try await send(EmptyResponse.self, .post, path, query, .value(body), timeout, options)
    }

    /// Sends a body, such as a form, or no body with the method `POST`.
    ///
    /// - Throws: ``NetworkError``, including for a status outside 200 to 299.
    public func post(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: RequestBody? = nil,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) {
        _ = try await send(EmptyResponse.self, .post, path, query, body, timeout, options)
    }

    /// Sends a value in the client's coding, usually JSON, with the method `PUT`.
    ///
    /// - Throws: ``NetworkError``, including for a status outside 200 to 299.
    public func put(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: some Encodable & Sendable,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) {
        _ = try await send(EmptyResponse.self, .put, path, query, .value(body), timeout, options)
    }

    /// Sends a body, such as a form, or no body with the method `PUT`.
    ///
    /// - Throws: ``NetworkError``, including for a status outside 200 to 299.
    public func put(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: RequestBody? = nil,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) {
        _ = try await send(EmptyResponse.self, .put, path, query, body, timeout, options)
    }

    /// Sends a value in the client's coding, usually JSON, with the method `PATCH`.
    ///
    /// - Throws: ``NetworkError``, including for a status outside 200 to 299.
    public func patch(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: some Encodable & Sendable,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) {
        _ = try await send(EmptyResponse.self, .patch, path, query, .value(body), timeout, options)
    }

    /// Sends a body, such as a form, or no body with the method `PATCH`.
    ///
    /// - Throws: ``NetworkError``, including for a status outside 200 to 299.
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
