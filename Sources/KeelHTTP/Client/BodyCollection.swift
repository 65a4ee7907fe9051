package import HTTPTypes
import KeelCore

/// How the body of a response is read into memory.
///
/// The client names it in the call, so that the layer that repeats calls can read the body inside
/// the attempt: a body that breaks off is then one more reason for another attempt.
package struct BodyCollection: Sendable, Hashable {
    /// The most bytes that the body may have.
    package var limit: Int

    /// How many bytes are kept where the status refuses; nil treats all statuses alike.
    package var refusalLimit: Int?

    package init(limit: Int, refusalLimit: Int? = nil) {
        self.limit = limit
        self.refusalLimit = refusalLimit
    }

    /// Reads the body, or takes the bytes that were read already.
    package func bytes(
        of reply: HTTPReply,
        to method: HTTPRequest.Method
    ) async throws(TransportError) -> [UInt8] {
        if let refusalLimit, reply.head.status.kind != .successful {
            if let bytes = reply.body.collected, bytes.count <= refusalLimit { return bytes }
            return try await reply.body.collectPrefix(refusalLimit)
        }
        if let bytes = reply.body.collected, bytes.count <= limit { return bytes }
        // HEAD announces the length of a body that never comes.
        if method != .head, let length = reply.announcedLength, length > limit {
            throw TransportError.responseTooLarge(limit: limit)
        }
        return try await reply.body.collect(upTo: limit)
    }

    /// Returns the reply with its body in memory.
    ///
    /// A redirect keeps its stream: most of them are followed, and their bodies are not wanted.
    package func collected(
        _ reply: HTTPReply,
        to method: HTTPRequest.Method
    ) async throws(TransportError) -> HTTPReply {
        guard reply.head.status.kind != .redirection else { return reply }
        let bytes = try await bytes(of: reply, to: method)
        var collected = reply
        collected.body = .collected(bytes, trailers: reply.body.trailers)
        return collected
    }
}

extension HTTPReply {
    /// Reads a short body that nobody wants, so that the connection can serve the next request.
    ///
    /// A long one is not worth it, nor one that takes time: dropping it ends the exchange.
    func drain(on timer: DeadlineTimer) async {
        guard let length = announcedLength, (0...8192).contains(length) else { return }
        let body = body
        _ = await timer.run(until: timer.now + .milliseconds(250)) {
            _ = try? await body.collectPrefix(8192)
        }
    }
}
