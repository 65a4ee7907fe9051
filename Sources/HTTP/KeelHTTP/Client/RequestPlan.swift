import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The parts of an endpoint, read on the caller's actor and safe to send elsewhere.
struct RequestPlan: Sendable {
    var method: HTTPRequest.Method
    var path: EndpointPath
    var query: HTTPQuery
    var headers: HTTPFields
    var body: RequestBody?
    var timeout: Duration?
    var options = HTTPCallOptions()
    var errorBodies: [ErrorBody] = []
    var coding: (any BodyCoding)?
    var isDecoded = false
    var uploadObserver: TransferObserver?
    var downloadObserver: TransferObserver?

    var isLongUpload: Bool { body?.isStreamed ?? false }

    init(
        _ endpoint: some ServiceEndpoint,
        _ timeout: Duration? = nil,
        _ options: HTTPCallOptions = HTTPCallOptions()
    ) {
        method = endpoint.method
        path = endpoint.path
        query = endpoint.query
        headers = endpoint.headers
        body = endpoint.body
        self.timeout = timeout ?? endpoint.timeout
        self.options = endpoint.options
        self.options.merge(options)
        errorBodies = endpoint.errorBodies
        coding = endpoint.coding
    }

    init(
        _ method: HTTPRequest.Method,
        _ path: EndpointPath,
        _ query: HTTPQuery,
        _ body: RequestBody?,
        _ timeout: Duration?,
        _ options: HTTPCallOptions
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.body = body
        self.timeout = timeout
        self.options = options
        headers = [:]
    }

    func uploading(_ body: RequestBody, _ observer: TransferObserver?) -> RequestPlan {
        var plan = self
        if plan.method == .get { plan.method = .post }
        plan.body = body
        plan.uploadObserver = observer
        return plan
    }
}

extension RequestPlan {
    func call(for client: NetworkClient) throws(NetworkError) -> HTTPCall {
        let base = try client.base.get()
        let configuration = client.configuration
        let codings = codings(of: client)
        var head = try head(from: base, configuration.defaultHeaders)
        var prepared: HTTPBody?
        if let body {
            head.headerFields[.contentType] = body.mediaType(in: codings)
            do {
                prepared = try body.make(codings)
            } catch {
                let code: NetworkError.Code = error is HTTPFileError ? .file : .encoding
                throw NetworkError(code, url: head.redactedURL, cause: error)
            }
            if let observer = uploadObserver { prepared = prepared?.observed(by: observer) }
        }
        if !headers.isEmpty {
            for name in Set(headers.map(\.name)) {
                head.headerFields[fields: name] = headers[fields: name]
            }
        }
        if isDecoded, head.headerFields[.accept] == nil {
            head.headerFields[.accept] = codings.values.mediaType
        }
        var everything = client.options(for: options)
        if isLongUpload, timeout == nil, let limit = configuration.timeout {
            everything.stallTimeout = limit
        }
        if let downloadObserver { everything.downloadObserver = downloadObserver }
        var call = HTTPCall(
            head,
            body: prepared,
            timeouts: configuration.timeouts,
            options: everything,
            id: configuration.makeCallID()
        )
        call.recorder = HTTPEventRecorder(configuration.observers, clock: configuration.clock)
        call.record(.started(head))
        return call
    }
}

extension RequestPlan {
    func codings(of client: NetworkClient) -> BodyCodings {
        guard let coding else { return client.codings }
        return BodyCodings(coding, json: client.codings.json)
    }

    /// Returns the head; only requests to the base URL's origin get the client's header fields.
    private func head(
        from base: BaseAddress,
        _ fields: HTTPFields
    ) throws(NetworkError) -> HTTPRequest {
        switch path.content {
        case .refused(let reason):
            throw NetworkError(.invalidURL, reason, url: base.text)
        case .usable(let path, let query):
            return HTTPRequest(
                method: method,
                scheme: base.scheme,
                authority: base.authority,
                path: Self.target(base.path + "/" + path, [query, self.query.encoded]),
                headerFields: fields
            )
        case .absolute(let url):
            let address = try BaseAddress(absolute: url)
            let path = url.path(percentEncoded: true)
            let query = url.query(percentEncoded: true) ?? ""
            var head = HTTPRequest(
                method: method,
                scheme: address.scheme,
                authority: address.authority,
                path: Self.target(path.isEmpty ? "/" : path, [query, self.query.encoded])
            )
            let home = HTTPRequest(
                method: method,
                scheme: base.scheme,
                authority: base.authority,
                path: "/"
            )
            if head.hasSameOrigin(as: home) { head.headerFields = fields }
            return head
        }
    }

    private static func target(_ path: String, _ query: [String]) -> String {
        var target = path
        var separator = "?"
        for part in query where !part.isEmpty {
            target += separator + part
            separator = "&"
        }
        return target
    }
}

/// A validated URL.
package struct BaseAddress {
    package let scheme: String
    package let authority: String

    /// The encoded path without a trailing slash.
    let path: String

    /// The address as text, safe for logs.
    var text: String { "\(scheme)://\(authority)\(path)" }

    init(_ url: URL) throws(NetworkError) {
        try self.init(url, called: "base URL")
        guard url.query() == nil, url.fragment() == nil else {
            throw NetworkError(.invalidURL, "The base URL has a query or a fragment.")
        }
    }

    init(absolute url: URL) throws(NetworkError) { try self.init(url, called: "URL of the call") }

    private init(_ url: URL, called name: String) throws(NetworkError) {
        guard let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme) else {
            throw NetworkError(.invalidURL, "The \(name) does not begin with http or https.")
        }
        guard let host = url.host(percentEncoded: true), !host.isEmpty, !host.contains("%") else {
            throw NetworkError(.invalidURL, "The \(name) has no host, or one that is not ASCII.")
        }
        guard url.user() == nil else {
            throw NetworkError(.invalidURL, "The \(name) has user information.")
        }
        self.scheme = scheme
        let bracketed = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        authority = url.port.map { "\(bracketed):\($0)" } ?? bracketed
        var path = url.path(percentEncoded: true)
        while path.hasSuffix("/") { path.removeLast() }
        self.path = path
    }
}
