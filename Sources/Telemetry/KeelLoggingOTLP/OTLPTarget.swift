#if Logging

internal import HTTPTypes
internal import KeelLogging

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The request head shared by all requests of an exporter, and the resource attributes.
struct OTLPTarget: Sendable {
    let head: HTTPRequest
    let resource: [(key: String, value: String)]

    init(_ configuration: OTLPLogConfiguration) throws(LoggingError) {
        let endpoint = configuration.endpoint
        var authority = endpoint.host() ?? ""
        if authority.contains(":"), !authority.hasPrefix("[") { authority = "[\(authority)]" }
        if let port = endpoint.port { authority += ":\(port)" }
        var path = endpoint.path()
        if path.isEmpty { path = "/" }
        if let query = endpoint.query() { path += "?\(query)" }
        var head = HTTPRequest(
            method: .post,
            scheme: endpoint.scheme?.lowercased(),
            authority: authority,
            path: path
        )
        head.headerFields[.contentType] = configuration.encoding.mediaType
        for (name, value) in configuration.headers {
            guard let field = HTTPField.Name(name) else {
                throw LoggingError(.invalidArgument, "“\(name)” is not a valid header field name")
            }
            head.headerFields[field] = value
        }
        self.head = head
        resource = configuration.resource.sorted { $0.key < $1.key }
            .map { (key: $0.key, value: $0.value) }
    }
}

#endif
