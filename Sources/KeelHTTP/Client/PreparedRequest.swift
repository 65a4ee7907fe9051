/// A call of an endpoint that was read on its caller's actor and can be made later, several times.
package struct PreparedRequest<Response: Decodable & Sendable>: Sendable {
    private let client: NetworkClient
    private let plan: RequestPlan

    init(_ client: NetworkClient, _ plan: RequestPlan) {
        self.client = client
        self.plan = plan
    }

    /// Makes the call and returns its decoded response together with the response itself.
    ///
    /// - Parameter change: Changes what this call asks of the layers.
    /// - Returns: The decoded body and the response.
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
    /// Reads an endpoint, for a call that is made later.
    package func prepared<E: Endpoint>(
        _ endpoint: E,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) -> PreparedRequest<E.Response> {
        let wishes = CallWishes(timeout: timeout, options: options)
        return PreparedRequest(self, RequestPlan(endpoint, wishes))
    }
}
