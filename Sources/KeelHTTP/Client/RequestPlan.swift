import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The parts of an endpoint, read on the caller's actor and safe to take elsewhere.
struct RequestPlan: Sendable {
    var method: HTTPRequest.Method
    var path: EndpointPath
    var query: HTTPQuery
    var headers: HTTPFields
    var body: RequestBody?
    var timeout: Duration?
    var options = HTTPCallOptions()

    init(_ endpoint: some ServiceEndpoint) {
        method = endpoint.method
        path = endpoint.path
        query = endpoint.query
        headers = endpoint.headers
        body = endpoint.body
        timeout = endpoint.timeout
        options = endpoint.options
    }

    init(_ method: HTTPRequest.Method, _ path: EndpointPath, timeout: Duration?) {
        self.method = method
        self.path = path
        self.timeout = timeout
        query = HTTPQuery()
        headers = [:]
    }
}

extension RequestPlan {
    /// Makes the call for a client with this configuration.
    func call(for configuration: NetworkClient.Configuration) throws(NetworkError) -> HTTPCall {
        let base = try BaseAddress(configuration.baseURL)
        guard let encodedPath = path.encoded else {
            throw NetworkError(
                .invalidURL,
                "The path of the endpoint has an empty value, a segment of dots only, "
                    + "a query or a stray percent sign.",
                url: base.text
            )
        }
        var target = base.path + "/" + encodedPath
        if !query.items.isEmpty { target += "?" + query.encoded }
        var head = HTTPRequest(
            method: method,
            scheme: base.scheme,
            authority: base.authority,
            path: target,
            headerFields: configuration.defaultHeaders
        )
        var prepared: HTTPBody?
        if let body {
            head.headerFields[.contentType] = body.contentType
            do {
                prepared = try body.make(configuration.json)
            } catch {
                throw NetworkError(.encoding, url: head.redactedURL, cause: error)
            }
        }
        for name in Set(headers.map(\.name)) {
            head.headerFields[fields: name] = headers[fields: name]
        }
        var everything = configuration.options
        everything.merge(options)
        var call = HTTPCall(
            head,
            body: prepared,
            timeouts: configuration.timeouts,
            options: everything,
            id: configuration.callID()
        )
        call.recorder = HTTPEventRecorder(configuration.observers, clock: configuration.clock)
        call.record(.started(head))
        return call
    }
}

/// A base URL taken apart and checked.
struct BaseAddress {
    let scheme: String
    let authority: String

    /// The encoded path without a slash at its end.
    let path: String

    /// The address as text, fit for logs.
    var text: String { "\(scheme)://\(authority)\(path)" }

    init(_ url: URL) throws(NetworkError) {
        guard let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme) else {
            throw NetworkError(.invalidURL, "The base URL does not begin with http or https.")
        }
        guard let host = url.host(percentEncoded: true), !host.isEmpty, !host.contains("%") else {
            throw NetworkError(.invalidURL, "The base URL has no host, or one that is not ASCII.")
        }
        guard url.user() == nil, url.query() == nil, url.fragment() == nil else {
            throw NetworkError(
                .invalidURL,
                "The base URL has user information, a query or a fragment."
            )
        }
        self.scheme = scheme
        let bracketed = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        authority = url.port.map { "\(bracketed):\($0)" } ?? bracketed
        var path = url.path(percentEncoded: true)
        while path.hasSuffix("/") { path.removeLast() }
        self.path = path
    }
}
