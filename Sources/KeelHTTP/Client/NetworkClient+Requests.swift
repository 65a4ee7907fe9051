import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension NetworkClient {
    /// Calls an endpoint and returns its decoded response.
    ///
    /// - Throws: ``NetworkError``.
    public func request<E: Endpoint>(_ endpoint: E) async throws(NetworkError) -> E.Response {
        try await value(of: RequestPlan(endpoint), as: E.Response.self)
    }

    /// Calls an endpoint and decodes its response as the type named here.
    ///
    /// - Throws: ``NetworkError``.
    public func request<Response: Decodable & Sendable>(
        _ endpoint: some ServiceEndpoint,
        as type: Response.Type
    ) async throws(NetworkError) -> Response {
        try await value(of: RequestPlan(endpoint), as: type)
    }

    /// Calls an endpoint and leaves the status and the body to the caller.
    ///
    /// A request that cannot be put together fails with
    /// ``TransportError/Code/invalidRequest``, whose cause is the ``NetworkError``.
    public func response(
        to endpoint: some ServiceEndpoint
    ) async -> Result<NetworkResponse, TransportError> {
        await result(of: RequestPlan(endpoint))
    }

    /// Sends bytes as the body of an endpoint and returns its decoded response.
    ///
    /// They take the place of the endpoint's own body; a method of `GET` becomes `POST`. The
    /// content type is `application/octet-stream` unless the endpoint's headers name another.
    ///
    /// - Throws: ``NetworkError``.
    public func upload<E: Endpoint>(
        _ bytes: some Sequence<UInt8>,
        to endpoint: E
    ) async throws(NetworkError) -> E.Response {
        var plan = RequestPlan(endpoint)
        if plan.method == .get { plan.method = .post }
        plan.body = .bytes(bytes)
        return try await value(of: plan, as: E.Response.self)
    }

    /// Calls an endpoint and returns the bytes of its response.
    ///
    /// For responses that do not fit into memory, use ``stream(_:timeoutCovers:)``.
    ///
    /// - Throws: ``NetworkError``.
    public func download(from endpoint: some ServiceEndpoint) async throws(NetworkError) -> Data {
        try await bytes(of: RequestPlan(endpoint))
    }
}

extension NetworkClient {
    @concurrent
    func value<Value: Decodable & Sendable>(
        of plan: RequestPlan,
        as type: Value.Type
    ) async throws(NetworkError) -> Value {
        let call = try plan.call(for: configuration)
        let response = try await accepted(call, plan)
        if let empty = EmptyResponse() as? Value { return empty }
        guard !response.body.isEmpty else {
            if let none = (type as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ()),
                let value = none as? Value
            {
                return value
            }
            throw NetworkError(.noData, response: response, url: call.redactedURL)
        }
        do {
            return try configuration.json.decode(type, from: response.body)
        } catch {
            throw NetworkError(undecodable: response, url: call.redactedURL, cause: error)
        }
    }

    @concurrent
    private func bytes(of plan: RequestPlan) async throws(NetworkError) -> Data {
        let call = try plan.call(for: configuration)
        return try await accepted(call, plan).data
    }

    @concurrent
    private func result(of plan: RequestPlan) async -> Result<NetworkResponse, TransportError> {
        do throws(NetworkError) {
            let call = try plan.call(for: configuration)
            do throws(TransportError) {
                return .success(try await whole(call, plan, refusalLimit: nil))
            } catch {
                return .failure(error)
            }
        } catch {
            return .failure(
                TransportError(.invalidRequest, error.message, url: error.url, cause: error)
            )
        }
    }

    /// Returns a response whose status is from 200 to 299.
    private func accepted(
        _ call: HTTPCall,
        _ plan: RequestPlan
    ) async throws(NetworkError) -> NetworkResponse {
        let response: NetworkResponse
        do throws(TransportError) {
            response = try await whole(call, plan, refusalLimit: configuration.errorBodyLimit)
        } catch {
            throw NetworkError(error)
        }
        if let refusal = NetworkError(refusal: response, url: call.redactedURL) { throw refusal }
        return response
    }

    /// Carries a call out and reads its body to the end, all within the total time.
    ///
    /// Where the status refuses, at most `refusalLimit` bytes of the body are kept; nil treats all
    /// statuses alike.
    private func whole(
        _ call: HTTPCall,
        _ plan: RequestPlan,
        refusalLimit: Int?
    ) async throws(TransportError) -> NetworkResponse {
        let collection = BodyCollection(
            limit: configuration.responseLimit,
            refusalLimit: refusalLimit
        )
        var prepared = call
        prepared.collection = collection
        prepared.deadline = deadline(for: plan)
        let call = prepared
        let exchange: @Sendable () async throws(TransportError) -> NetworkResponse = {
            () async throws(TransportError) in
            let reply = try await send(call)
            let body = try await collection.bytes(of: reply, to: call.head.method)
            return NetworkResponse(head: reply.head, body: body)
        }
        do throws(TransportError) {
            let response = try await within(call.deadline, call, exchange)
            call.record(.succeeded(status: response.status.code))
            return response
        } catch {
            let located = error.located(in: call)
            call.record(.failed(located))
            throw located
        }
    }
}
