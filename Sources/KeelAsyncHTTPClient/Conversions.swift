#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import AsyncHTTPClient
import HTTPTypes
import KeelHTTP
import NIOCore
import NIOHTTP1

extension HTTPClientRequest {
    init(_ call: HTTPCall, _ window: SendWindow) throws(TransportError) {
        guard let scheme = call.head.scheme, let authority = call.head.authority,
            !authority.isEmpty, let path = call.head.path, path.hasPrefix("/")
        else {
            throw TransportError(
                .invalidRequest,
                "The request has no scheme, no authority or no path.",
                url: call.redactedURL
            )
        }
        self.init(url: "\(scheme)://\(authority)\(path)")
        method = HTTPMethod(rawValue: call.head.method.rawValue)
        for field in call.head.headerFields {
            headers.add(name: field.name.rawName, value: field.value)
        }
        guard let body = call.body else { return }
        if let bytes = body.bytes {
            self.body = .bytes(ByteBuffer(bytes: bytes))
        } else {
            self.body = .stream(
                RequestBodyChunks(body: body, window: window),
                length: body.length.map { .known($0) } ?? .unknown
            )
        }
    }
}

extension HTTPResponse {
    init(_ response: HTTPClientResponse) {
        self.init(
            status: Status(
                code: Int(response.status.code),
                reasonPhrase: response.status.reasonPhrase
            ),
            headerFields: HTTPFields(response.headers)
        )
    }
}

extension HTTPFields {
    init(_ headers: HTTPHeaders) {
        self.init()
        for (name, value) in headers {
            // The parser lets no other names through; one that is not a token is no field.
            guard let name = HTTPField.Name(name) else { continue }
            append(HTTPField(name: name, value: value))
        }
    }
}
#endif
