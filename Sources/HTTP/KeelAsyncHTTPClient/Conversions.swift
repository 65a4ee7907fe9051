#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import AsyncHTTPClient
import HTTPTypes
import KeelHTTP
import NIOCore
import NIOHTTP1

extension HTTPRequest {
    /// The target of the request.
    ///
    /// - Throws: `TransportError.Code.invalidRequest` if it is incomplete.
    var target: (scheme: String, authority: String, path: String) {
        get throws(TransportError) {
            guard let scheme, let authority, !authority.isEmpty,
                let path, path.utf8.first == UInt8(ascii: "/")
            else {
                throw TransportError(
                    .invalidRequest,
                    "The request has no scheme, authority or path.",
                    url: redactedURL
                )
            }
            return (scheme, authority, path)
        }
    }
}

extension HTTPMethod {
    init(_ method: HTTPRequest.Method) { self.init(rawValue: method.rawValue) }
}

extension HTTPHeaders {
    /// Creates the fields of a request, with the number of its exchange for ``ExchangeHandler``.
    ///
    /// The number precedes any field of that name in `fields`, so the handler finds it first.
    init(_ fields: HTTPFields, of exchange: Exchange) {
        var headers = [(ExchangeHandler.field, String(exchange.number))]
        // AsyncHTTPClient adds `Host`, and `Content-Length` or `Transfer-Encoding`.
        headers.reserveCapacity(fields.count + 3)
        for field in fields.joiningCookies { headers.append((field.name.rawName, field.value)) }
        self.init(headers)
    }
}

extension HTTPClientRequest {
    init(
        _ call: HTTPCall,
        sending body: HTTPBody,
        _ exchange: Exchange
    ) throws(TransportError) {
        let target = try call.head.target
        self.init(url: "\(target.scheme)://\(target.authority)\(target.path)")
        method = HTTPMethod(call.head.method)
        headers = HTTPHeaders(call.head.headerFields, of: exchange)
        self.body = .stream(
            RequestBodyChunks(body: body, window: exchange.window),
            length: body.length.map { .known($0) } ?? .unknown
        )
    }
}

extension HTTPResponse {
    init(_ status: HTTPResponseStatus, _ headers: HTTPHeaders) {
        self.init(
            status: Status(code: Int(status.code), reasonPhrase: status.reasonPhrase),
            headerFields: HTTPFields(headers)
        )
    }
}

extension HTTPFields {
    init(_ headers: HTTPHeaders) {
        self.init()
        reserveCapacity(headers.count)
        for (name, value) in headers {
            // The parser passes only valid names; any other is dropped.
            guard let name = HTTPField.Name(name) else { continue }
            append(HTTPField(name: name, value: value))
        }
    }
}
#endif
