import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension NetworkClient {
    /// Calls an endpoint and returns its decoded response.
    ///
    /// - Parameters:
    ///   - endpoint: The operation.
    ///   - timeout: The total timeout of this call; nil uses that of the endpoint or the client.
    ///   - options: The options for the layers, which override those of the endpoint and the client.
    /// - Returns: The decoded body.
    /// - Throws: ``NetworkError``, also for a status outside 200 to 299 and for a body that cannot be decoded.
    public func request<E: Endpoint>(
        _ endpoint: E,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> E.Response {
        try await value(of: RequestPlan(endpoint, timeout, options), as: E.Response.self)
    }

    /// Calls an endpoint and decodes its response as the given type.
    ///
    /// See ``request(_:timeout:options:)``.
    public func request<Response: Decodable & Sendable>(
        _ endpoint: some ServiceEndpoint,
        as type: Response.Type,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> Response {
        try await value(of: RequestPlan(endpoint, timeout, options), as: type)
    }

    /// Calls an endpoint and returns its complete response for any status.
    ///
    /// ``NetworkResponse/value(as:coding:errorBodies:)`` evaluates the response. A request that cannot be built fails
    /// with ``TransportError/Code/invalidRequest``, caused by a ``NetworkError``.
    public func response(
        to endpoint: some ServiceEndpoint,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async -> Result<NetworkResponse, TransportError> {
        var plan = RequestPlan(endpoint, timeout, options)
        plan.isDecoded = Self.hasValue(endpoint)
        return await result(of: plan)
    }

    private static func hasValue(_ endpoint: some ServiceEndpoint) -> Bool {
        func hasValue<E: Endpoint>(_ endpoint: E) -> Bool { E.Response.self != EmptyResponse.self }
        guard let endpoint = endpoint as? any Endpoint else { return false }
        return hasValue(endpoint)
    }
}

extension NetworkClient {
    @concurrent
    func value<Value: Decodable & Sendable>(
        of plan: RequestPlan,
        as type: Value.Type
    ) async throws(NetworkError) -> Value {
        try await answer(to: plan, as: type).value
    }

    @concurrent
    func answer<Value: Decodable & Sendable>(
        to plan: RequestPlan,
        as type: Value.Type
    ) async throws(NetworkError) -> (value: Value, response: NetworkResponse) {
        var plan = plan
        plan.isDecoded = type != EmptyResponse.self
        let call = try plan.call(for: self)
        let response = try await accepted(call, plan)
        let coding = plan.codings(of: self).values
        return (try response.decoded(as: type, coding, url: call.redactedURL), response)
    }

    @concurrent
    func bytes(of plan: RequestPlan) async throws(NetworkError) -> Data {
        defer { plan.downloadObserver?.finish() }
        let call = try plan.call(for: self)
        return try await accepted(call, plan).data
    }

    @concurrent
    func result(of plan: RequestPlan) async -> Result<NetworkResponse, TransportError> {
        do throws(NetworkError) {
            let call = try plan.call(for: self)
            do throws(TransportError) {
                return .success(try await whole(call, plan, errorBodyLimit: nil))
            } catch {
                return .failure(error)
            }
        } catch {
            return .failure(
                TransportError(.invalidRequest, error.message, url: error.url, cause: error)
            )
        }
    }

    private func accepted(
        _ call: HTTPCall,
        _ plan: RequestPlan
    ) async throws(NetworkError) -> NetworkResponse {
        let response: NetworkResponse
        do throws(TransportError) {
            response = try await whole(call, plan, errorBodyLimit: configuration.errorBodyLimit)
        } catch {
            throw NetworkError(error)
        }
        if let refusal = refusal(of: response, call, plan) { throw refusal }
        return response
    }

    func refusal(
        of response: NetworkResponse,
        _ call: HTTPCall,
        _ plan: RequestPlan
    ) -> NetworkError? {
        guard response.status.kind != .successful else { return nil }
        return NetworkError(
            errorResponse: response,
            url: call.redactedURL,
            declared: plan.errorBodies + configuration.errorBodies,
            coding: plan.codings(of: self).json
        )
    }

    /// Carries out a call and reads its body to the end; a nil `errorBodyLimit` treats all statuses alike.
    private func whole(
        _ call: HTTPCall,
        _ plan: RequestPlan,
        errorBodyLimit: Int?
    ) async throws(TransportError) -> NetworkResponse {
        let collection = BodyCollection(
            limit: configuration.responseLimit,
            errorBodyLimit: errorBodyLimit
        )
        var prepared = call
        prepared.collection = collection
        prepared.deadline = deadline(for: call, plan)
        prepared.endsAtDeadline = endsAtDeadline(call)
        let call = prepared
        let exchange: @Sendable () async throws(TransportError) -> NetworkResponse = {
            () async throws(TransportError) in
            let reply = try await carryOut(call)
            let body = try await collection.bytes(of: reply, to: call.head.method)
            var response = NetworkResponse(head: reply.head, body: body)
            response.notes = reply.notes
            return response
        }
        do throws(TransportError) {
            let response = try await within(
                call.deadline,
                call,
                keepingLate: { _ in true },
                exchange
            )
            call.record(.succeeded(status: response.status.code))
            return response
        } catch {
            let located = error.located(in: call)
            call.record(.failed(located))
            throw located
        }
    }
}
