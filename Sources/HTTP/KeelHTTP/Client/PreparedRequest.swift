/// An endpoint's request, read on its caller's actor, that can be sent later and more than once.
package struct PreparedRequest<Response: Decodable & Sendable>: Sendable {
    private let client: NetworkClient
    private let plan: RequestPlan

    init(_ client: NetworkClient, _ plan: RequestPlan) {
        self.client = client
        self.plan = plan
    }

    /// Sends the request with the options adjusted by `change`, and returns the decoded body and the response.
    ///
    /// - Throws: ``NetworkError``, as ``NetworkClient/request(_:timeout:options:)`` does.
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
        let context = RequestContext(timeout: timeout, options: options)
        return PreparedRequest(self, RequestPlan(endpoint, context))
    }
}
