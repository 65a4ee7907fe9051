import HTTPTypes
import KeelHTTP
import Synchronization

/// Adds a field on which the answers depend, as an app would.
struct FieldLayer: HTTPMiddleware {
    let value: String

    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        var call = call
        call.head.headerFields[StackOrigin.app] = value
        return try await next(call)
    }
}

struct TalkativeLayer: HTTPMiddleware {
    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        var call = call
        call.head.headerFields[.authorization] = "Bearer ann/0"
        return try await next(call)
    }
}

struct CarelessLayer: HTTPMiddleware {
    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        do throws(TransportError) {
            return try await next(call)
        } catch {
            return try await next(call)
        }
    }
}

final class HoardingLayer: HTTPMiddleware {
    private let replies = Mutex<[HTTPReply]>([])

    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        let reply = try await next(call)
        replies.withLock { $0.append(reply) }
        return reply
    }
}
