import Foundation
import HTTPTypes
import KeelHTTP
import KeelServing

/// The service that the harness of w3c/trace-context asks to make calls (its `test/README.md`).
///
/// A request's body lists calls; each is a POST whose body lists further calls. ``TraceContextPropagation`` passes the
/// trace of the request on to the calls.
struct CallbackHandler: ServingHandler {
    /// A call that the harness requests.
    struct Callback: Codable {
        let url: String
        let arguments: [Callback]
    }

    private static let bodyLimit = 1 << 20

    private let transport: any HTTPTransport

    /// Creates the handler.
    ///
    /// - Parameter transport: The transport for the calls.
    init(transport: any HTTPTransport) { self.transport = transport }

    func respond(to call: HTTPCall) async -> HTTPReply {
        guard let bytes = try? await call.body?.open().collect(upTo: Self.bodyLimit),
            let callbacks = try? JSONDecoder().decode([Callback].self, from: Data(bytes))
        else { return .text(.badRequest, "The body must be a list of calls.\n") }
        for callback in callbacks {
            guard await make(callback, for: call.head) else {
                return .text(.badGateway, "A call could not be made.\n")
            }
        }
        return .bytes(.ok, type: "application/json", Array("{}".utf8))
    }

    private func make(_ callback: Callback, for request: HTTPRequest) async -> Bool {
        guard let url = URL(string: callback.url),
            let body = try? JSONEncoder().encode(callback.arguments)
        else { return false }
        var configuration = NetworkClient.Configuration(baseURL: url)
        configuration.middleware = [TraceContextPropagation()]
        let client = NetworkClient(configuration, transport: transport)
        var head = HTTPRequest(method: .post, url: url)
        head.headerFields[.contentType] = "application/json"
        head.headerFields[values: .traceParent] = request.headerFields[values: .traceParent]
        head.headerFields[values: .traceState] = request.headerFields[values: .traceState]
        guard let reply = try? await client.send(HTTPCall(head, body: HTTPBody(Array(body)))),
            (try? await reply.body.collect(upTo: Self.bodyLimit)) != nil
        else { return false }
        return reply.head.status.kind == .successful
    }
}

extension HTTPRequest {
    /// A request of an address with its scheme, authority, path and query.
    fileprivate init(method: Method, url: URL) {
        let query = url.query(percentEncoded: true).map { "?\($0)" } ?? ""
        let path = url.path(percentEncoded: true)
        self.init(
            method: method,
            scheme: url.scheme,
            authority: (url.host(percentEncoded: true) ?? "") + (url.port.map { ":\($0)" } ?? ""),
            path: (path.isEmpty ? "/" : path) + query
        )
    }
}
