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
        let bytes = try await reply.body.collect(upTo: limit)
        // Many sequences end where their reader is cancelled: only the announced length tells such
        // an end from that of the body.
        guard !Task.isCancelled || reply.announcedLength == Int64(bytes.count) else {
            throw TransportError(.cancelled, phase: .readBody)
        }
        return bytes
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
    /// A long one is not worth it, nor one that takes time: dropping it ends the exchange. The
    /// caller must not keep the reply beyond this: it holds the exchange's place under a limit.
    func drain(on timer: DeadlineTimer) async {
        guard (0...8192).contains(announcedLength ?? 0) else { return }
        let body = body
        _ = await timer.run(until: timer.now + .milliseconds(250)) {
            // One byte more than is read: the end of the body is what frees the connection.
            _ = try? await body.collectPrefix(8193)
        }
    }

    /// Returns the reply with its body in memory, which holds on to no exchange any more.
    ///
    /// For a reply that may still be the final one while another request is made: what has a limit
    /// on its exchanges would otherwise wait for the reply's own place. Bytes beyond `limit` are
    /// dropped; the body ends with an error then, as it does where it could not be read.
    ///
    /// - Throws: ``TransportError/Code/cancelled`` or ``TransportError/Code/deadlineExceeded``.
    func detached(upTo limit: Int = 64 * 1024) async throws(TransportError) -> HTTPReply {
        var detached = self
        var bytes: [UInt8] = []
        do throws(TransportError) {
            var pieces = body.makeAsyncIterator()
            while bytes.count <= limit, let piece = try await pieces.next() { bytes += piece }
            guard bytes.count <= limit else { throw TransportError.responseTooLarge(limit: limit) }
            detached.body = .collected(bytes, trailers: body.trailers)
        } catch {
            guard error.code != .cancelled, error.code != .deadlineExceeded else { throw error }
            detached.body = .chunks([Array(bytes.prefix(limit))], thenThrow: error)
        }
        return detached
    }
}
