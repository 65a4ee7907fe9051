import HTTPTypes
import KeelCache
import KeelHTTP

/// A layer as an app would write it: it keeps responses by their address, without the rules of HTTP.
struct PeerMemoryLayer: HTTPMiddleware {
    let cache: Cache<String, NetworkResponse>

    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        let head = call.head
        let address = "\(head.scheme ?? "")://\(head.authority ?? "")\(head.path ?? "")"
        if let stored = await cache.get(address) {
            return HTTPReply(head: stored.head, body: .chunks([stored.body]))
        }
        let reply = try await next(call)
        let body = try await reply.body.collect(upTo: 1 << 20)
        cache.setSynchronously(NetworkResponse(head: reply.head, body: body), for: address)
        return HTTPReply(head: reply.head, body: .chunks([body]))
    }
}
