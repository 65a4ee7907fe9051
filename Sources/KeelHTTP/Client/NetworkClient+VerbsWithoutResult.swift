import HTTPTypes

/// Verbs without a result: the status must be from 200 to 299, and a body in the answer is not looked
/// at.
extension NetworkClient {
    /// Sends a value in the client's coding, usually JSON, with the method `POST`.
    public func post(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: some Encodable & Sendable,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) {
        let wishes = CallWishes(timeout: timeout, options: options)
        let plan = RequestPlan(.post, path, wishes, query: query, body: .value(body))
        _ = try await value(of: plan, as: EmptyResponse.self)
    }

    /// Sends a body, such as a form, or none at all, with the method `POST`.
    public func post(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: RequestBody? = nil,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) {
        let wishes = CallWishes(timeout: timeout, options: options)
        let plan = RequestPlan(.post, path, wishes, query: query, body: body)
        _ = try await value(of: plan, as: EmptyResponse.self)
    }

    /// Sends a value in the client's coding, usually JSON, with the method `PUT`.
    public func put(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: some Encodable & Sendable,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) {
        let wishes = CallWishes(timeout: timeout, options: options)
        let plan = RequestPlan(.put, path, wishes, query: query, body: .value(body))
        _ = try await value(of: plan, as: EmptyResponse.self)
    }

    /// Sends a body, such as a form, or none at all, with the method `PUT`.
    public func put(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: RequestBody? = nil,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) {
        let wishes = CallWishes(timeout: timeout, options: options)
        let plan = RequestPlan(.put, path, wishes, query: query, body: body)
        _ = try await value(of: plan, as: EmptyResponse.self)
    }

    /// Sends a value in the client's coding, usually JSON, with the method `PATCH`.
    public func patch(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: some Encodable & Sendable,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) {
        let wishes = CallWishes(timeout: timeout, options: options)
        let plan = RequestPlan(.patch, path, wishes, query: query, body: .value(body))
        _ = try await value(of: plan, as: EmptyResponse.self)
    }

    /// Sends a body, such as a form, or none at all, with the method `PATCH`.
    public func patch(
        _ path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        body: RequestBody? = nil,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) {
        let wishes = CallWishes(timeout: timeout, options: options)
        let plan = RequestPlan(.patch, path, wishes, query: query, body: body)
        _ = try await value(of: plan, as: EmptyResponse.self)
    }
}
