import AsyncHTTPClient
import Foundation
import HTTPTypes
import KeelHTTP
import NIOCore
import NIOHTTP1

extension HTTPPair {
    struct GetTypical: Endpoint {
        typealias Response = EmptyResponse
        var path: EndpointPath { "/typical" }
    }

    struct GetFresh: Endpoint {
        typealias Response = EmptyResponse
        var path: EndpointPath { "/fresh" }
    }

    struct GetAfter: Endpoint {
        typealias Response = EmptyResponse
        let milliseconds: Int
        var path: EndpointPath { "/after/\(milliseconds)" }
    }

    /// The header fields of an app's requests, besides those that Keel adds to every request.
    private static let fields = [
        ("User-Agent", "Places/7.2.1 (build 4410; Linux) Swift/6.3"),
        ("Accept-Language", "de-CH, de;q=0.9, en;q=0.7"),
        ("X-Client-Version", "7.2.1"),
        ("Authorization", "Bearer \(String(repeating: "eyJhbGciOiJFUzI1NiJ9", count: 12))"),
        ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    ]

    /// The header fields of the peer: the same, and those that Keel adds.
    static let peerFields = HTTPHeaders(fields + [("Accept-Encoding", "gzip, deflate")])

    static let keelFields: HTTPFields = {
        var headers: HTTPFields = [:]
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return headers
    }()

    @concurrent
    func keelGetTypical() async throws {
        let response = try await typical.response(to: GetTypical()).get()
        guard response.body.count == 256 else { throw Flaw("Keel got another body.") }
    }

    @concurrent
    func peerGetTypical() async throws {
        var request = HTTPClientRequest(url: "\(address)/typical")
        request.headers = Self.peerFields
        let response = try await peer.execute(request, deadline: .now() + .seconds(60))
        let body = try await response.body.collect(upTo: 64 << 20)
        guard body.readableBytes == 256 else { throw Flaw("The peer got another body.") }
    }

    @concurrent
    func keelGetLayered() async throws {
        let response = try await layered.response(to: GetSmall()).get()
        guard response.body.count == 256 else { throw Flaw("Keel got another body.") }
    }

    /// A layer that an app has written, and that does nothing.
    struct EmptyLayer: HTTPMiddleware {
        var waitsOnlyForNext: Bool { true }

        func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
            try await next(call)
        }
    }
}
